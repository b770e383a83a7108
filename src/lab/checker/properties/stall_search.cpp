// SPDX-License-Identifier: Apache-2.0
#include "lab/checker/properties/stall_search.hpp"

#include <algorithm>
#include <array>
#include <random>

#include "lab/checker/properties/stuck_waits.hpp"

namespace kgate::lab {

namespace {

/// A run without names and texts: what the walker does, fast.
class runner {
 public:
  explicit runner(program& p)
      : program_(p), values_(static_cast<std::size_t>(p.variables()), 0), locals_(static_cast<std::size_t>(p.N()), 0) {}

  const local_state& local(int p) const { return program_.local(p, locals_[static_cast<std::size_t>(p)]); }
  bool can_move(int p) { return !local(p).done && !look(p, locals_[static_cast<std::size_t>(p)]).blocked; }
  void step(int p) {
    const local_state& at = local(p);
    const transition t = look(p, locals_[static_cast<std::size_t>(p)]);
    if (t.writes) values_[static_cast<std::size_t>(at.variable)] = t.written;
    locals_[static_cast<std::size_t>(p)] = t.next;
  }

  bool waits_stuck(int p) {
    const auto value = [this](int v) { return values_[static_cast<std::size_t>(v)]; };
    return stuck_round(program_, p, locals_[static_cast<std::size_t>(p)], value) != 0;
  }

  /// Somebody waits with nothing left to change it and at most `crashes` others could change that.
  bool stuck(int crashes) {
    int waiting = 0;
    int movers = 0;
    for (int p = 0; p < program_.N(); ++p) {
      if (local(p).where == region::remainder) continue;
      ++(waits_stuck(p) ? waiting : movers);
    }
    return waiting > 0 && movers <= crashes;
  }

 private:
  transition look(int p, local_id s) {
    const local_state& at = program_.local(p, s);
    return program_.step(p, s, at.variable < 0 ? 0 : values_[static_cast<std::size_t>(at.variable)]);
  }

  program& program_;
  std::vector<code> values_;
  std::vector<local_id> locals_;
};

bool writes(const local_state& s) {
  return s.op == operation::write || s.op == operation::compare_and_swap || s.op == operation::exchange;
}

/// One walk; its schedule if it comes to a bad end.
class walk {
 public:
  walk(program& p, const stall_search_options& options, std::mt19937& random)
      : N_(p.N()), options_(options), random_(random), run_(p), pace_(static_cast<std::size_t>(p.N()), 1.0) {}

  bool goes_wrong(std::vector<int>& schedule) {
    constexpr std::size_t steps_max = 5000;
    constexpr double switching = 0.05;
    int ended = 0;
    int mover = -1;
    while (ended < options_.passages && schedule.size() < steps_max) {
      if (mover < 0) mover = draw();
      if (mover < 0) return false;
      const bool was_outside = run_.local(mover).where != region::remainder;
      run_.step(mover);
      schedule.push_back(mover);
      pace_[static_cast<std::size_t>(mover)] = 1.0;
      const local_state& now = run_.local(mover);
      if (was_outside && now.where == region::remainder) {
        ++ended;
        if (run_.stuck(options_.crashes)) return true;
      }
      if (writes(now) && chance(options_.sleepiness)) {
        constexpr std::array<double, 4> paces{1.0, 0.1, 0.02, 0.004};
        pace_[static_cast<std::size_t>(mover)] = paces[random_() % paces.size()];
        mover = -1;
      } else if (chance(switching) || run_.waits_stuck(mover)) {
        mover = -1;
      }
    }
    return false;
  }

 private:
  double unit() { return static_cast<double>(random_()) / 4294967296.0; }
  bool chance(double probability) { return unit() < probability; }
  /// Who goes on, each by its pace; -1 if nobody can.
  int draw() {
    double sum = 0;
    std::vector<double> share(pace_.size(), 0);
    for (int p = 0; p < N_; ++p)
      if (run_.can_move(p) && !run_.waits_stuck(p))
        sum += share[static_cast<std::size_t>(p)] = pace_[static_cast<std::size_t>(p)];
    double at = unit() * sum;
    int chosen = -1;
    for (int p = 0; p < N_ && (chosen < 0 || at > 0); ++p) {
      if (share[static_cast<std::size_t>(p)] == 0) continue;
      chosen = p;
      at -= share[static_cast<std::size_t>(p)];
    }
    return chosen;
  }

  int N_;
  const stall_search_options& options_;
  std::mt19937& random_;
  runner run_;
  std::vector<double> pace_;
};

/// The schedule without its part [from, to), cut off where it comes to a bad end; empty if it comes to none.
std::vector<int> without(const std::vector<int>& schedule, std::size_t from, std::size_t to, program& p, int crashes) {
  runner r(p);
  std::vector<int> kept;
  for (std::size_t i = 0; i < schedule.size(); ++i) {
    if ((i >= from && i < to) || !r.can_move(schedule[i])) continue;
    r.step(schedule[i]);
    kept.push_back(schedule[i]);
    if (r.stuck(crashes)) return kept;
  }
  return {};
}

}  // namespace

stall_search_result search_for_stalls(program& p, const program_name& of, const stall_search_options& options) {
  std::mt19937 random(options.seed);
  stall_search_result result;
  while (result.walks < options.walks) {
    ++result.walks;
    std::vector<int> schedule;
    const bool wrong = walk(p, options, random).goes_wrong(schedule);
    result.steps += schedule.size();
    if (!wrong) continue;
    result.found = stuck_wait(p, of, "starvation-free", std::move(schedule));
    break;
  }
  return result;
}

trace shortened(const trace& t, program& p) {
  std::vector<int> schedule(t.schedule.begin(), t.schedule.begin() + t.loop);
  const int crashes = static_cast<int>(t.crashed.size());
  for (std::size_t chunk = std::max<std::size_t>(1, schedule.size() / 2); chunk > 0;) {
    bool shorter = false;
    for (std::size_t from = 0; from < schedule.size();) {
      std::vector<int> fewer = without(schedule, from, from + chunk, p, crashes);
      if (!fewer.empty() && fewer.size() < schedule.size()) {
        schedule = std::move(fewer);
        shorter = true;
      } else {
        from += chunk;
      }
    }
    if (!shorter) chunk /= 2;
  }
  return stuck_wait(p, t.of, "starvation-free", std::move(schedule));
}

}  // namespace kgate::lab
