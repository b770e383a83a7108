// SPDX-License-Identifier: Apache-2.0
// Random runs of operations, where there are too many to explore.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <random>
#include <stdexcept>
#include <unordered_set>
#include <utility>

#include "lab/checker/properties/operations.hpp"

namespace kgate::lab {

namespace {

constexpr std::size_t operations_max = 64;

struct observed {
  int process = 0, nth = 0;
  std::uint64_t before = 0;  ///< had ended when it began
  bool ended = false;
  int result = 0;
};

/// Looks for an order of the operations that explains what was observed. What was tried from the same operations and
/// the same state is not tried again (Wing & Gong 1993, Lowe 2017).
class explanation {
 public:
  explanation(const sequential_specification& object, const std::vector<observed>& seen)
      : object_(object), seen_(seen) {
    for (std::size_t i = 0; i < seen.size(); ++i)
      if (seen[i].ended) ended_ |= std::uint64_t{1} << i;
  }
  bool exists() { return from(object_.initial, 0); }

 private:
  bool from(const std::string& state, std::uint64_t done) {
    if ((ended_ & ~done) == 0) return true;
    if (!tried_.insert(state + std::string(reinterpret_cast<const char*>(&done), sizeof done)).second) return false;
    for (std::size_t i = 0; i < seen_.size(); ++i) {
      const std::uint64_t bit = std::uint64_t{1} << i;
      if ((done & bit) != 0 || (seen_[i].before & ~done) != 0) continue;
      std::string next = state;
      const int result = object_.apply(next, seen_[i].process, seen_[i].nth);
      if (seen_[i].ended && result != seen_[i].result) continue;
      if (from(next, done | bit)) return true;
    }
    return false;
  }

  const sequential_specification& object_;
  const std::vector<observed>& seen_;
  std::uint64_t ended_ = 0;
  std::unordered_set<std::string> tried_;
};

class operations_run {
 public:
  explicit operations_run(program& p)
      : program_(p),
        values_(static_cast<std::size_t>(p.variables()), 0),
        locals_(static_cast<std::size_t>(p.N()), 0),
        under_way_(static_cast<std::size_t>(p.N()), 0) {}

  const local_state& local(int p) const { return program_.local(p, locals_[static_cast<std::size_t>(p)]); }
  bool can_move(int p) const { return !local(p).done && !transition_of(p).blocked; }
  bool writes(int p) const { return transition_of(p).writes; }
  /// Makes a possible step. True if an operation ended by it.
  bool step(int p) {
    const auto i = static_cast<std::size_t>(p);
    const local_state before = local(p);
    const transition t = transition_of(p);
    if (t.writes) values_[static_cast<std::size_t>(before.variable)] = t.written;
    locals_[i] = t.next;
    if (before.where == region::remainder) {
      under_way_[i] = seen_.size();
      seen_.push_back({p, before.passage, ended_, false, 0});
    }
    if (local(p).where != region::critical || before.where == region::critical) return false;
    seen_[under_way_[i]].ended = true;
    seen_[under_way_[i]].result = local(p).name;
    ended_ |= std::uint64_t{1} << under_way_[i];
    return true;
  }
  const std::vector<observed>& seen() const { return seen_; }

 private:
  transition transition_of(int p) const {
    const int v = local(p).variable;
    return program_.step(p, locals_[static_cast<std::size_t>(p)], v < 0 ? 0 : values_[static_cast<std::size_t>(v)]);
  }

  program& program_;
  std::vector<code> values_;
  std::vector<local_id> locals_;
  std::vector<std::size_t> under_way_;
  std::vector<observed> seen_;
  std::uint64_t ended_ = 0;
};

/// The steps of the schedule that are possible one after another, up to where they cannot be explained; none if they
/// can.
std::vector<int> inexplicable_part(program& p, const sequential_specification& object,
                                   const std::vector<int>& schedule) {
  operations_run r(p);
  std::vector<int> made;
  for (const int q : schedule) {
    if (!r.can_move(q)) continue;
    made.push_back(q);
    if (r.step(q) && !explanation(object, r.seen()).exists()) return made;
  }
  return {};
}

std::vector<int> made_shorter(program& p, const sequential_specification& object, std::vector<int> schedule) {
  for (std::size_t length = schedule.size() / 2; length > 0;) {
    bool shorter = false;
    for (std::size_t from = 0; from + length <= schedule.size() && !shorter; from += length) {
      std::vector<int> fewer = schedule;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(from),
                  fewer.begin() + static_cast<std::ptrdiff_t>(from + length));
      fewer = inexplicable_part(p, object, fewer);
      shorter = !fewer.empty();
      if (shorter) schedule = std::move(fewer);
    }
    if (!shorter) length /= 2;
    length = std::min(length, schedule.size() / 2);
  }
  return schedule;
}

/// One random run: processes go on by themselves for a while, and sleep before they write.
std::vector<int> inexplicable_walk(program& p, const sequential_specification& object, std::mt19937& random,
                                   std::uint64_t& steps) {
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  constexpr std::array<unsigned, 4> sleepiness{80, 80, 30, 0};
  constexpr std::array<std::size_t, 4> naps{1, 10, 60, 400};
  const unsigned sleepy = sleepiness[below(4)];
  operations_run r(p);
  std::vector<std::size_t> wakes(static_cast<std::size_t>(p.N()), 0);
  std::vector<int> schedule;
  int mover = -1;
  for (std::size_t now = 0; now < 5000; ++now) {
    std::vector<int> awake, all;
    for (int q = 0; q < p.N(); ++q) {
      if (!r.can_move(q)) continue;
      all.push_back(q);
      if (wakes[static_cast<std::size_t>(q)] <= now) awake.push_back(q);
    }
    if (all.empty()) break;
    const std::vector<int>& from = awake.empty() ? all : awake;
    if (std::find(from.begin(), from.end(), mover) == from.end() || below(8) == 0) mover = from[below(from.size())];
    schedule.push_back(mover);
    ++steps;
    if (r.step(mover) && !explanation(object, r.seen()).exists()) return schedule;
    if (r.can_move(mover) && r.writes(mover) && below(100) < sleepy) {
      wakes[static_cast<std::size_t>(mover)] = now + naps[below(4)];
      mover = -1;
    }
  }
  return {};
}

}  // namespace

operations_result search_operations(program& p, const operations_walks& request) {
  const auto operations = static_cast<std::size_t>(p.N()) * static_cast<std::size_t>(p.options().passages);
  if (operations < 1 || operations > operations_max)
    throw std::invalid_argument(
        fmt::format("1 to {} operations in all can be searched, not {}", operations_max, operations));
  std::mt19937 random(request.seed);
  operations_result result;
  while (result.histories < request.walks && result.linearizable) {
    ++result.histories;
    std::vector<int> bad = inexplicable_walk(p, request.object, random, result.steps);
    if (bad.empty()) continue;
    result.linearizable = false;
    result.schedule = made_shorter(p, request.object, std::move(bad));
    operations_run r(p);
    for (const int q : result.schedule) r.step(q);
    for (const observed& o : r.seen())
      result.why += fmt::format("{}operation {} of process {}: {}", result.why.empty() ? "" : "; ", o.nth + 1,
                                o.process, o.ended ? std::to_string(o.result) : "pending");
  }
  return result;
}

bool is_explicable(program& p, const sequential_specification& object, const std::vector<int>& schedule) {
  return inexplicable_part(p, object, schedule).empty();
}

}  // namespace kgate::lab
