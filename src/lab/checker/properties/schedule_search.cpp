// SPDX-License-Identifier: Apache-2.0
#include "lab/checker/properties/schedule_search.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <random>

#include "lab/checker/properties/watched_run.hpp"
#include "lab/checker/trace/fairness_trace.hpp"

namespace kgate::lab {

namespace {

bool writes(const local_state& s) {
  return s.op == operation::write || s.op == operation::compare_and_swap || s.op == operation::exchange;
}

/// One walk, and what it violates.
class walk {
 public:
  walk(program& p, const watched_properties& what, const search_options& options, std::mt19937& random)
      : N_(p.N()),
        what_(what),
        options_(options),
        random_(random),
        run_(p, what),
        pace_(static_cast<std::size_t>(p.N()), 1.0),
        sleepiness_(any_of<double, 4>({0.8, 0.8, 0.3, 0.0})),
        splitting_(any_of<double, 4>({0.0, 0.2, 0.5, 0.0})),
        switching_(any_of<double, 4>({0.05, 0.05, 0.2, 0.5})) {}

  std::optional<seen_violation> goes_wrong(std::vector<int>& schedule) {
    constexpr std::size_t steps_max = 5000;
    int ended = 0;
    int mover = -1;
    const int passages = std::min(options_.passages, any_of<int, 3>({N_, 2 * N_, options_.passages}));
    while (ended < passages && schedule.size() < steps_max) {
      if (mover < 0) mover = draw();
      if (mover < 0) return run_.stalled();
      const region before = run_.local(mover).where;
      const bool waited = run_.local(mover).waiting;
      const int choices = run_.choices(mover);
      schedule.push_back(
          scheduled(mover, choices > 1 ? static_cast<int>(random_() % static_cast<unsigned>(choices)) : 0));
      const process_set overtaken = run_.overtaken();
      if (auto found = run_.step(schedule.back(), false)) return found;
      if (what_.judges_enabling() && (run_.overtaken() & ~overtaken) != 0)
        if (auto found = keep_out(run_.overtaken() & ~overtaken, schedule)) return found;
      pace_[static_cast<std::size_t>(mover)] = 1.0;
      const local_state& now = run_.local(mover);
      ended += before != region::remainder && now.where == region::remainder ? 1 : 0;
      const bool in_doorway = now.where == region::entry && (!now.waiting || !waited);  // or just past it
      if ((writes(now) && chance(sleepiness_)) || (in_doorway && chance(splitting_))) {
        pace_[static_cast<std::size_t>(mover)] = any_of<double, 4>({1.0, 0.1, 0.02, 0.004});
        mover = -1;
      } else if (chance(switching_) || !run_.can_move(mover) || run_.waits_stuck(mover)) {
        mover = -1;
      }
    }
    return std::nullopt;
  }

 private:
  /// Whether the overtaken are enabled depends on all that may follow: the others take a few steps each, in any order,
  /// and stop.
  std::optional<seen_violation> keep_out(process_set victims, std::vector<int>& schedule) {
    constexpr int attempts = 12;
    for (int i = 0; i < attempts; ++i) {
      watched_run after = run_;
      std::vector<int> tried = schedule;
      const unsigned length = 1U << random_() % 6;
      int q = 0;
      for (unsigned at = 0; at < length; ++at) {
        if (at == 0 || random_() % 3 == 0) q = static_cast<int>(random_() % static_cast<unsigned>(N_));
        if (has(victims, q) || !after.can_move(q)) continue;
        tried.push_back(scheduled(q, static_cast<int>(random_() % static_cast<unsigned>(after.choices(q)))));
        if (auto found = after.step(tried.back(), true)) {
          schedule = std::move(tried);
          return found;
        }
      }
    }
    return std::nullopt;
  }
  template <class T, std::size_t Count>
  T any_of(const std::array<T, Count>& of) {
    return of[random_() % Count];
  }
  double unit() { return static_cast<double>(random_()) / 4294967296.0; }
  bool chance(double probability) { return unit() < probability; }
  /// The process that goes on, each by its pace; -1 if none can.
  int draw() {
    double sum = 0;
    std::array<double, graph_processes_max> share{};
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
  const watched_properties& what_;
  const search_options& options_;
  std::mt19937& random_;
  watched_run run_;
  std::vector<double> pace_;
  const double sleepiness_;  ///< how often a process falls asleep before it writes
  const double splitting_;   ///< how often it does in its doorway
  const double switching_;   ///< how often another goes on without a reason
};

struct shorter_run {
  std::vector<int> schedule;
  seen_violation seen;
};

/// The schedule without the entries that `leaves_out` names, cut off where it violates something; nothing if it does
/// not.
template <class Leaves_out>
std::optional<shorter_run> without(const std::vector<int>& schedule, program& p, const watched_properties& what,
                                   Leaves_out&& leaves_out) {
  watched_run r(p, what);
  shorter_run kept;
  for (std::size_t i = 0; i < schedule.size(); ++i) {
    const int q = scheduled_process(schedule[i]);
    if (leaves_out(i) || !r.can_move(q) || scheduled_choice(schedule[i]) >= r.choices(q)) continue;
    kept.schedule.push_back(schedule[i]);
    if (auto seen = r.step(schedule[i], true)) {
      kept.seen = std::move(*seen);
      return kept;
    }
  }
  return std::nullopt;
}

/// Makes a run shorter as long as one of these is possible: leave out a passage of a process, or some steps in a row.
class shortening {
 public:
  shortening(const trace& t, program& p)
      : program_(p),
        what_(watched_properties::of({t.property}, static_cast<int>(t.crashed.size()))),
        shortest_(t),
        schedule_(t.schedule) {
    if (t.loop >= 0) schedule_.resize(static_cast<std::size_t>(t.loop));
  }

  trace run() {
    while (leave_out_passage() || leave_out_row()) {
    }
    return shortest_;
  }

 private:
  template <class Leaves_out>
  bool shorter(Leaves_out&& leaves_out) {
    std::optional<shorter_run> fewer = without(schedule_, program_, what_, leaves_out);
    if (!fewer || fewer->schedule.size() >= schedule_.size()) return false;
    schedule_ = fewer->schedule;
    shortest_ = trace_of(program_, shortest_.of, std::move(fewer->schedule), fewer->seen);
    return true;
  }

  bool leave_out_passage() {
    std::vector<int> passage(schedule_.size());  // which of its process's
    std::vector<int> begun(static_cast<std::size_t>(program_.N()), 0);
    watched_run r(program_, {});
    for (std::size_t i = 0; i < schedule_.size(); ++i) {
      const int q = scheduled_process(schedule_[i]);
      if (r.local(q).where == region::remainder) ++begun[static_cast<std::size_t>(q)];
      passage[i] = begun[static_cast<std::size_t>(q)];
      r.step(schedule_[i], false);
    }
    for (int q = 0; q < program_.N(); ++q)
      for (int nth = 1; nth <= begun[static_cast<std::size_t>(q)]; ++nth)
        if (shorter([&](std::size_t i) { return scheduled_process(schedule_[i]) == q && passage[i] == nth; }))
          return true;
    return false;
  }

  bool leave_out_row() {
    for (std::size_t length = std::max<std::size_t>(1, schedule_.size() / 2); length > 0; length /= 2)
      for (std::size_t from = 0; from < schedule_.size(); from += length)
        if (shorter([&](std::size_t i) { return i >= from && i < from + length; })) return true;
    return false;
  }

  program& program_;
  const watched_properties what_;
  trace shortest_;
  std::vector<int> schedule_;
};

}  // namespace

std::span<const std::string_view> searched_properties() {
  static constexpr std::string_view all[] = {"k-exclusion",
                                             "deadlock-free",
                                             "starvation-free",
                                             "bounded-exit",
                                             "invariant",
                                             "distinct-names",
                                             "k-fcfs",
                                             "fife",
                                             "enabled-in-order",
                                             "l-full",
                                             "l-queuelike",
                                             "fifo-enabling",
                                             "kl-deadlock-free",
                                             "local-waiting",
                                             "fifo",
                                             "bounded-waiting:B",
                                             "bounded-overtaking:B"};
  return all;
}

bool can_be_searched(const std::string& id) {
  if (overtakings_allowed(id) || passings_allowed(id)) return true;
  const auto all = searched_properties();
  return std::find(all.begin(), all.end(), id) != all.end() && id.find(':') == std::string::npos;
}

search_result search_schedules(program& p, const program_name& of, const search_options& options) {
  using clock = std::chrono::steady_clock;
  const auto begin = clock::now();
  const watched_properties what = watched_properties::of(options.properties, options.crashes);
  std::mt19937 random(options.seed);
  search_result result;
  const auto goes_on = [&] {
    result.seconds = std::chrono::duration<double>(clock::now() - begin).count();
    return !result.found && result.walks < options.walks &&
           (options.seconds_max <= 0 || result.seconds < options.seconds_max) &&
           (options.interrupted == nullptr || !options.interrupted->load());
  };
  while (goes_on()) {
    ++result.walks;
    std::vector<int> schedule;
    const std::optional<seen_violation> seen = walk(p, what, options, random).goes_wrong(schedule);
    result.steps += schedule.size();
    if (seen) result.found = trace_of(p, of, std::move(schedule), *seen);
  }
  return result;
}

trace shortened(const trace& t, program& p) { return shortening(t, p).run(); }

}  // namespace kgate::lab
