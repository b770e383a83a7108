// SPDX-License-Identifier: Apache-2.0
#include "tools/kgate-lab/output/provenance.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <string_view>

#include "lab/experiments/this_machine.hpp"
#include "tools/kgate-lab/output/text.hpp"

namespace kgate::tool {

namespace {

constexpr std::string_view commit = KGATE_COMMIT;

}  // namespace

nlohmann::json provenance() {
  return {{"program", "kgate-lab"},
          {"version", KGATE_VERSION},
          {"commit", commit.empty() ? nlohmann::json() : nlohmann::json(commit)},
          {"machine", lab::this_machine()}};
}

std::string commit_text() { return commit.empty() ? "unknown" : std::string(commit); }

std::string provenance_text(const lab::run_limits& limits, seed_used seed) {
  const nlohmann::json machine = lab::this_machine();
  std::vector<std::string> most;
  if (limits.memory_max != lab::run_limits{}.memory_max) most.push_back(bytes_text(limits.memory_max));
  if (limits.seconds_max > 0) most.push_back(fmt::format("{} s", limits.seconds_max));
  return fmt::format(
      "kgate-lab {} ({}){}{}{}{}; {}, {}", KGATE_VERSION, commit_text(), seed ? fmt::format(", seed {}", *seed) : "",
      limits.threads == 0 ? "" : ", " + count_text(static_cast<unsigned>(limits.threads), "thread", "threads"),
      most.empty() ? "" : ", at most ", fmt::join(most, " and "), machine["compiler"].get<std::string>(),
      machine["processor"].get<std::string>());
}

std::string made_by_text(const lab::run_limits& limits, seed_used seed) {
  return wrapped(fmt::format("by {}", provenance_text(limits, seed)), 3, 79) + "\n";
}

void add_provenance(nlohmann::json& result, const lab::run_limits& limits, seed_used seed) {
  result["made_by"] = provenance();
  if (seed) result["seed"] = *seed;
  result["threads"] = limits.threads;
  result["memory_max"] = limits.memory_max;
  result["time_max"] = limits.seconds_max;
}

nlohmann::json trace_json(const lab::trace& t, lab::program& p, const lab::run_limits& limits, seed_used seed) {
  nlohmann::json j = lab::to_json(t, p);
  add_provenance(j, limits, seed);
  return j;
}

}  // namespace kgate::tool
