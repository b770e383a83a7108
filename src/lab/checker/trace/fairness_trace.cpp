// SPDX-License-Identifier: Apache-2.0
#include "lab/checker/trace/fairness_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "lab/checker/graph/local_analysis.hpp"

namespace kgate::lab {

namespace {

using position_key = std::pair<std::vector<code>, std::vector<local_id>>;
position_key key_of(const walker& w) { return {w.here().values, w.here().locals}; }

bool enters(const step_record& r) { return r.before != region::critical && r.after == region::critical; }

/// Can `victim` run alone for ever without entering, from where w stands?
bool waits_alone(walker w, int victim) {
  std::set<position_key> met;
  while (met.insert(key_of(w)).second) {
    if (!w.can_move(victim)) return true;
    if (w.step(victim).after != region::entry) return false;
  }
  return true;
}

/// How many positions a search that judges a trace visits.
constexpr std::size_t positions_max = 20'000;

/// Looks for a run in which `victim` waits for ever: some steps of any processes, then it alone. Searches positions_max
/// positions and no more.
bool can_wait_for_ever(const walker& start, int victim, int N) {
  std::set<position_key> met{key_of(start)};
  std::deque<walker> queue{start};
  while (!queue.empty()) {
    walker w = queue.front();
    queue.pop_front();
    if (waits_alone(w, victim)) return true;
    for (int p = 0; p < N && met.size() < positions_max; ++p) {
      if (!w.can_move(p)) continue;
      walker next = w;
      next.step(p);
      if (next.local(victim).where == region::entry && met.insert(key_of(next)).second) queue.push_back(next);
    }
  }
  return false;
}

/// A run on the way: follows the schedule and keeps what all judgements need.
struct follower {
  follower(const trace& t, program& p) : schedule(t.schedule), w(p), order(p.N()) {}

  /// Calls after(i, record) behind each step of [from, to); returns what is wrong with a step, if anything.
  template <class After>
  std::string follow(std::size_t from, std::size_t to, After&& after) {
    for (std::size_t i = from; i < to; ++i) {
      if (std::string wrong = cannot_step(schedule[i], w, i); !wrong.empty()) return wrong;
      after(i, order.step(w, schedule[i]));
    }
    return "";
  }

  const std::vector<int>& schedule;
  walker w;
  doorway_order order;
};

/// Follows the whole run, calling after(i, record) behind each step, and says what is wrong if the victim does not wait
/// for ever from the start of the loop on: blocked in the end, or stepping in the loop.
template <class After>
std::string follow_to_endless_wait(follower& run, const trace& t, After&& after) {
  bool victim_steps = false;
  const auto observe = [&](std::size_t i, const step_record& r) {
    after(i, r);
    victim_steps |= r.process == t.victim && t.loop >= 0 && i >= static_cast<std::size_t>(t.loop);
  };
  const std::size_t all = t.schedule.size();
  const std::size_t stem = t.loop < 0 ? all : static_cast<std::size_t>(t.loop);
  if (std::string wrong = run.follow(0, stem, observe); !wrong.empty()) return wrong;
  const walker::position start = run.w.here();
  if (std::string wrong = run.follow(stem, all, observe); !wrong.empty()) return wrong;
  if (stem == all) return run.w.can_move(t.victim) ? fmt::format("process {} is not blocked at the end", t.victim) : "";
  if (!(run.w.here() == start)) return "the loop does not come back to its start";
  return victim_steps ? "" : fmt::format("process {} takes no step in the loop", t.victim);
}

/// The victim is overtaken at some step, and from there on waits for ever.
std::string judge_fife(const trace& t, program& p) {
  if (t.victim < 0) return "a violation of fife needs a victim";
  follower run(t, p);
  bool overtaken = false;
  std::string wrong = follow_to_endless_wait(run, t, [&](std::size_t, const step_record& r) {
    if (!doorway_order::past_doorway(run.w, t.victim)) overtaken = false;
    if (enters(r))
      for (const int first : run.order.before(r.process)) overtaken |= first == t.victim;
  });
  if (!wrong.empty() || overtaken) return wrong;
  return fmt::format("nobody who started after process {} was past its doorway gets in before it", t.victim);
}

/// A process that started after the victim was past its doorway is past its own and enabled, and the victim waits for
/// ever. Being enabled lasts: it is enough to look where each of the later ones was last in its entry.
std::string judge_enabled_in_order(const trace& t, program& p) {
  if (t.victim < 0) return "a violation of enabled-in-order needs a victim";
  follower run(t, p);
  std::map<int, walker::position> later;
  std::string wrong = follow_to_endless_wait(run, t, [&](std::size_t, const step_record&) {
    if (!doorway_order::past_doorway(run.w, t.victim)) later.clear();
    for (int q = 0; q < p.N(); ++q) {
      const std::vector<int> first = run.order.before(q);
      if (doorway_order::past_doorway(run.w, q) && std::find(first.begin(), first.end(), t.victim) != first.end())
        later[q] = run.w.here();
    }
  });
  if (!wrong.empty()) return wrong;
  for (const auto& [q, last] : later) {
    run.w.go(last);
    if (!can_wait_for_ever(run.w, q, p.N())) return "";
  }
  return fmt::format("nobody who started after process {} was past its doorway is enabled", t.victim);
}

std::string judge_kfcfs(const trace& t, program& p) {
  if (t.loop >= 0) return "a violation of k-fcfs is a finite run";
  follower run(t, p);
  std::size_t first = 0;
  bool last_enters = false;
  std::string wrong = run.follow(0, t.schedule.size(), [&](std::size_t, const step_record& r) {
    last_enters = enters(r);
    first = run.order.before(r.process).size();
  });
  if (!wrong.empty()) return wrong;
  if (!last_enters) return "the last step does not enter";
  if (first < static_cast<std::size_t>(p.k()))
    return first == 1 ? "only 1 process that came first is still waiting"
                      : fmt::format("only {} processes that came first are still waiting", first);
  return "";
}

/// The victim is overtaken more than `allowed` times by one process while it is past its doorway, and from there on
/// waits for ever: so it was not enabled.
std::string judge_waiting_bound(const trace& t, program& p, int allowed) {
  if (t.victim < 0) return "a violation of bounded-waiting needs a victim";
  follower run(t, p);
  std::vector<int> overtakings(static_cast<std::size_t>(p.N()), 0);
  std::string wrong = follow_to_endless_wait(run, t, [&](std::size_t, const step_record& r) {
    if (!doorway_order::past_doorway(run.w, t.victim)) overtakings.assign(overtakings.size(), 0);
    if (!enters(r)) return;
    for (const int first : run.order.before(r.process))
      if (first == t.victim) ++overtakings[static_cast<std::size_t>(r.process)];
  });
  if (!wrong.empty() || *std::max_element(overtakings.begin(), overtakings.end()) > allowed) return wrong;
  return fmt::format("nobody overtakes process {} more than {} {}", t.victim, allowed, allowed == 1 ? "time" : "times");
}

/// While the victim is in its entry some process gets from its remainder to inside more than `allowed` times.
std::string judge_passing_bound(const trace& t, program& p, int allowed) {
  if (t.victim < 0) return "a violation of bounded-overtaking needs a victim";
  follower run(t, p);
  const auto N = static_cast<std::size_t>(p.N());
  std::vector<int> passings(N, 0);
  std::vector<bool> later(N, false);
  bool too_often = false;
  std::string wrong = run.follow(0, t.schedule.size(), [&](std::size_t, const step_record& r) {
    const auto q = static_cast<std::size_t>(r.process);
    if (run.w.local(t.victim).where != region::entry) {
      passings.assign(N, 0);
      later.assign(N, false);
      return;
    }
    if (enters(r) && later[q]) {
      too_often |= ++passings[q] > allowed;
      later[q] = false;
    }
    for (std::size_t other = 0; other < N; ++other)
      if (!run.w.outside(static_cast<int>(other))) later[other] = true;
  });
  if (!wrong.empty() || too_often) return wrong;
  return fmt::format("nobody gets from its remainder to inside more than {} {} while process {} is in its entry",
                     allowed, allowed == 1 ? "time" : "times", t.victim);
}

/// Some process gets inside during the loop and the victim stays in its entry, for bounded-waiting never enabled. Being
/// enabled lasts, so it is enough that the victim can wait for ever from some position in the loop.
std::string judge_waiting(const trace& t, program& p) {
  if (t.victim < 0) return fmt::format("a violation of {} needs a victim", t.property);
  if (t.loop < 0 || static_cast<std::size_t>(t.loop) == t.schedule.size())
    return "a finite run cannot show that waiting is unbounded";
  follower run(t, p);
  const auto nothing = [](std::size_t, const step_record&) {};
  if (std::string wrong = run.follow(0, static_cast<std::size_t>(t.loop), nothing); !wrong.empty()) return wrong;
  const walker start = run.w;
  bool entered = false, stays = start.local(t.victim).where == region::entry, victim_steps = false;
  std::string wrong =
      run.follow(static_cast<std::size_t>(t.loop), t.schedule.size(), [&](std::size_t, const step_record& r) {
        entered |= enters(r);
        stays &= run.w.local(t.victim).where == region::entry;
        victim_steps |= r.process == t.victim;
      });
  if (!wrong.empty()) return wrong;
  if (!(run.w.here() == start.here())) return "the loop does not come back to its start";
  if (!stays) return fmt::format("process {} does not stay in its entry", t.victim);
  if (!entered) return "nobody enters in the loop";
  // The processes that enter have shown whether there are doorways.
  const bool from_doorway = t.property == "bounded-waiting" && doorways_of(p) == doorways::marked;
  if (from_doorway && !doorway_order::past_doorway(run.w, t.victim))
    return fmt::format("process {} is not past its doorway", t.victim);
  if (t.property == "bounded-overtaking" || victim_steps || can_wait_for_ever(start, t.victim, p.N())) return "";
  return fmt::format("no way was found to keep process {} out for ever: it may be enabled", t.victim);
}

}  // namespace

step_record doorway_order::step(walker& w, int entry) {
  const int q = scheduled_process(entry);
  const bool starts = !w.outside(q);
  if (starts)
    for (std::size_t p = 0; p < first_.size(); ++p) first_[q][p] = past_doorway(w, static_cast<int>(p));
  step_record r = w.step(q, scheduled_choice(entry));
  if (!past_doorway(w, q))
    for (auto& row : first_) row[q] = false;
  return r;
}

std::vector<int> doorway_order::before(int q) const {
  std::vector<int> all;
  for (std::size_t p = 0; p < first_.size(); ++p)
    if (first_[q][p]) all.push_back(static_cast<int>(p));
  return all;
}

namespace {

std::optional<int> bound_behind(std::string_view prefix, std::string_view property) {
  if (!property.starts_with(prefix)) return std::nullopt;
  const std::string_view digits = property.substr(prefix.size());
  if (digits.empty() || digits.size() > 6 || digits.find_first_not_of("0123456789") != std::string_view::npos)
    return std::nullopt;
  return std::stoi(std::string(digits));
}

}  // namespace

std::optional<int> overtakings_allowed(std::string_view property) { return bound_behind("bounded-waiting:", property); }
std::optional<int> passings_allowed(std::string_view property) { return bound_behind("bounded-overtaking:", property); }

bool is_fairness(std::string_view property) {
  return overtakings_allowed(property) || passings_allowed(property) || property == "fife" ||
         property == "enabled-in-order" || property == "k-fcfs" || property == "bounded-waiting" ||
         property == "bounded-overtaking";
}

std::string judge_fairness(const trace& t, program& p) {
  if (t.property == "fife") return judge_fife(t, p);
  if (t.property == "enabled-in-order") return judge_enabled_in_order(t, p);
  if (t.property == "k-fcfs") return judge_kfcfs(t, p);
  if (const auto allowed = overtakings_allowed(t.property)) return judge_waiting_bound(t, p, *allowed);
  if (const auto allowed = passings_allowed(t.property)) return judge_passing_bound(t, p, *allowed);
  return judge_waiting(t, p);
}

}  // namespace kgate::lab
