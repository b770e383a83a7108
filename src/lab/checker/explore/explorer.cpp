// SPDX-License-Identifier: Apache-2.0
#include "lab/checker/explore/explorer.hpp"

#include "lab/checker/explore/explorer_impl.hpp"

namespace kgate::lab {

void watch::end(const char* why) {
  const std::scoped_lock lock(mutex_);
  if (why_.empty()) why_ = why;
}

std::string watch::why() const {
  const std::scoped_lock lock(mutex_);
  return why_;
}

bool watch::over(std::uint64_t bytes) {
  if (limits_.interrupted != nullptr && limits_.interrupted->load(std::memory_order_relaxed)) {
    end("interrupted");
  } else if (bytes > limits_.memory_max) {
    end("memory limit reached");
  } else if (limits_.seconds_max > 0 && seconds() > limits_.seconds_max) {
    end("time limit reached");
  }
  return !why().empty();
}

void watch::report(const char* phase, std::uint64_t states, std::uint64_t queue, std::uint64_t bytes) {
  if (!limits_.report) return;
  const double now = seconds();
  if (now - reported_ < 0.2) return;
  const double rate =
      states >= reported_states_ ? static_cast<double>(states - reported_states_) / (now - reported_) : 0;
  limits_.report({phase, states, rate, queue, bytes});
  reported_ = now;
  reported_states_ = states;
}

std::vector<id_range> exploration::used() const {
  std::vector<id_range> all;
  for (const auto& level : levels) all.insert(all.end(), level.begin(), level.end());
  return all;
}

exploration explore(program& p, const explore_options& options, const run_limits& limits) {
  return explore<no_observer>(p, options, limits, 0, [](const tables&) { return no_observer{}; });
}

}  // namespace kgate::lab
