// SPDX-License-Identifier: Apache-2.0
#include "lab/checker/properties/watched_run.hpp"

#include <fmt/format.h>

#include <bit>
#include <stdexcept>
#include <unordered_map>

#include "lab/checker/properties/stuck_waits.hpp"
#include "lab/checker/trace/fairness_trace.hpp"

namespace kgate::lab {

namespace {

/// A process that waits for long without coming round is no longer followed.
constexpr std::size_t alone_max = 1000;
/// Nor does a round of a wait take more steps.
constexpr int round_max = 300;

}  // namespace

watched_properties watched_properties::of(const std::vector<std::string>& ids, int crashes) {
  watched_properties what;
  what.crashes = crashes;
  for (const std::string& id : ids) {
    if (const std::optional<int> bound = overtakings_allowed(id)) {
      what.overtakings_max = *bound;
      continue;
    }
    if (const std::optional<int> bound = passings_allowed(id)) {
      what.passings_max = *bound;
      continue;
    }
    const std::pair<const char*, bool watched_properties::*> known[] = {
        {"k-exclusion", &watched_properties::k_exclusion},
        {"distinct-names", &watched_properties::names},
        {"invariant", &watched_properties::invariant},
        {"bounded-exit", &watched_properties::bounded_exit},
        {"local-waiting", &watched_properties::local_waiting},
        {"k-fcfs", &watched_properties::k_fcfs},
        {"fife", &watched_properties::fife},
        {"deadlock-free", &watched_properties::deadlock},
        {"starvation-free", &watched_properties::starvation},
        {"l-full", &watched_properties::full},
        {"l-queuelike", &watched_properties::queuelike},
        {"fifo", &watched_properties::fifo},
        {"fifo-enabling", &watched_properties::fifo_enabling},
        {"enabled-in-order", &watched_properties::enabled_in_order},
        {"kl-deadlock-free", &watched_properties::group_deadlock}};
    bool found = false;
    for (const auto& [name, member] : known)
      if (id == name) found = what.*member = true;
    if (!found) throw std::invalid_argument(fmt::format("{} cannot be searched for", id));
  }
  return what;
}

watched_run::watched_run(program& p, const watched_properties& what)
    : program_(p),
      what_(what),
      at_{std::vector<code>(static_cast<std::size_t>(p.variables()), 0),
          std::vector<local_id>(static_cast<std::size_t>(p.N()), 0)},
      first_(static_cast<std::size_t>(p.N()), 0),
      overtakings_(static_cast<std::size_t>(p.N()), std::vector<int>(static_cast<std::size_t>(p.N()), 0)),
      passings_(overtakings_),
      later_(static_cast<std::size_t>(p.N()), 0) {}

code watched_run::seen(const position& at, int p, int choice) const {
  const local_state& here = program_.local(p, at.locals[static_cast<std::size_t>(p)]);
  if (here.variable < 0) return 0;
  const shared_variable& v = program_.variable(here.variable);
  const code value = at.values[static_cast<std::size_t>(here.variable)];
  const bool during_write = here.op == operation::read && v.safe() && value == v.unstable;
  return during_write ? v.domain[static_cast<std::size_t>(choice)] : seen_by_way(value, here.ways > 1 ? choice : 0);
}

int watched_run::choices(int p) const {
  const local_state& here = local(p);
  if (here.variable < 0 || here.op != operation::read) return here.ways;
  const shared_variable& v = program_.variable(here.variable);
  const bool during_write = v.safe() && at_.values[static_cast<std::size_t>(here.variable)] == v.unstable;
  return during_write ? static_cast<int>(v.domain.size()) : 1;
}

void watched_run::move(position& at, int p, int choice) {
  const int variable = program_.local(p, at.locals[static_cast<std::size_t>(p)]).variable;
  const transition t = transition_of(at, p, choice);
  if (t.writes) at.values[static_cast<std::size_t>(variable)] = t.written;
  at.locals[static_cast<std::size_t>(p)] = t.next;
}

bool watched_run::waits_stuck(int p) {
  if (local(p).where != region::entry) return false;
  const auto value = [&](int v) {
    const shared_variable& variable = program_.variable(v);
    const code now = at_.values[static_cast<std::size_t>(v)];
    return variable.safe() && now == variable.unstable ? variable.domain[0] : now;
  };
  return stuck_round(program_, p, at_.locals[static_cast<std::size_t>(p)], value, round_max) != 0;
}

std::optional<seen_violation> watched_run::stalled() {
  if (!what_.deadlock && !what_.starvation) return std::nullopt;
  int waiting = 0, movers = 0, victim = -1;
  for (int p = 0; p < program_.N(); ++p) {
    if (local(p).where == region::remainder) continue;
    const bool waits = waits_stuck(p);
    if (waits && victim < 0) victim = p;
    ++(waits ? waiting : movers);
  }
  if (waiting == 0 || movers > what_.crashes) return std::nullopt;
  return seen_violation{what_.starvation ? "starvation-free" : "deadlock-free", victim};
}

std::optional<seen_violation> watched_run::entered(int q) {
  int inside = 0;
  process_set names = 0;
  bool clash = false;
  for (int p = 0; p < program_.N(); ++p) {
    if (local(p).where != region::critical) continue;
    ++inside;
    const int name = local(p).name;
    clash |= name >= program_.k() || (name >= 0 && has(names, name));
    if (name >= 0 && name < program_.k()) names |= only(name);
  }
  if (what_.k_exclusion && inside > program_.k()) return seen_violation{"k-exclusion"};
  if (what_.names && clash) return seen_violation{"distinct-names"};
  const process_set first = first_[static_cast<std::size_t>(q)];
  if (what_.k_fcfs && std::popcount(first) >= program_.k()) return seen_violation{"k-fcfs"};
  overtaken_ |= first;
  for (int p = 0; p < program_.N(); ++p)
    if (has(first, p) &&
        ++overtakings_[static_cast<std::size_t>(p)][static_cast<std::size_t>(q)] > what_.overtakings_max)
      too_often_ |= only(p);
  return std::nullopt;
}

std::optional<seen_violation> watched_run::waits_elsewhere() {
  for (int p = 0; p < program_.N(); ++p) {
    const local_state& at = local(p);
    if ((at.where != region::entry && at.where != region::exit) || at.variable < 0) continue;
    if (program_.variable(at.variable).home == pid(p)) continue;
    if (at.op == operation::await ? !can_move(p) : waits_stuck(p)) return seen_violation{"local-waiting", p};
  }
  return std::nullopt;
}

std::optional<seen_violation> watched_run::waits_alone(int p, const std::string& property) {
  position at = at_;
  seen_violation found{property, p};
  std::unordered_map<local_id, std::size_t> met;  // since its last write
  while (found.own_steps.size() < alone_max) {
    const local_id here = at.locals[static_cast<std::size_t>(p)];
    if (program_.local(p, here).where != region::entry) return std::nullopt;
    const auto [before, fresh] = met.try_emplace(here, found.own_steps.size());
    found.loop = before->second;
    if (!fresh) return found;
    const transition t = transition_of(at, p, 0);
    if (t.blocked) {
      found.loop = found.own_steps.size();
      return found;
    }
    if (t.writes) met.clear();
    move(at, p, 0);
    found.own_steps.push_back(p);
  }
  return std::nullopt;
}

std::optional<seen_violation> watched_run::kept_out() {
  if ((overtaken_ | too_often_) == 0) return std::nullopt;
  for (int p = 0; p < program_.N(); ++p) {
    std::optional<seen_violation> found;
    if (what_.fife && has(overtaken_, p)) found = waits_alone(p, "fife");
    if (!found && what_.overtakings_max >= 0 && has(too_often_, p))
      found = waits_alone(p, fmt::format("bounded-waiting:{}", what_.overtakings_max));
    if (found) return found;
  }
  return std::nullopt;
}

std::optional<seen_violation> watched_run::step(int entry, bool check_stalls_always) {
  const int q = scheduled_process(entry);
  const region before = local(q).where;
  if (before == region::remainder) {
    process_set first = 0;
    for (int p = 0; p < program_.N(); ++p)
      if (p != q && past_doorway(p)) first |= only(p);
    first_[static_cast<std::size_t>(q)] = first;
  }
  const bool writes = transition_of(at_, q, scheduled_choice(entry)).writes;
  const position earlier = what_.judges_arrivals() ? at_ : position{};
  const bool passed = past_doorway(q);
  move(at_, q, scheduled_choice(entry));
  const region now = local(q).where;
  if (!past_doorway(q)) {
    for (process_set& row : first_) row &= ~only(q);
    overtaken_ &= ~only(q);
    too_often_ &= ~only(q);
    overtakings_[static_cast<std::size_t>(q)].assign(overtakings_.size(), 0);
  }
  if (now == region::critical && before != region::critical)
    if (auto found = entered(q)) return found;
  if (what_.invariant && program_.has_invariant()) {
    walker w(program_);
    w.go({at_.values, at_.locals});
    if (!program_.broken_invariant(walked_state(w)).empty()) return seen_violation{"invariant"};
  }
  if (what_.bounded_exit)
    for (int p = 0; p < program_.N(); ++p)
      if ((local(p).where == region::exit || local(p).where == region::critical) && !can_move(p))
        return seen_violation{"bounded-exit", p};
  if (what_.local_waiting)
    if (auto found = waits_elsewhere()) return found;
  if ((overtaken_ | too_often_) != 0 && (writes || now != before || check_stalls_always))
    if (auto found = kept_out()) return found;
  if (auto found = about_enabling(q, earlier, now != before || past_doorway(q) != passed)) return found;
  const bool ends = before != region::remainder && now == region::remainder;
  if ((what_.deadlock || what_.starvation) && (ends || check_stalls_always)) return stalled();
  return std::nullopt;
}

trace trace_of(program& p, const program_name& of, std::vector<int> schedule, const seen_violation& seen) {
  if (seen.property == "starvation-free" || seen.property == "deadlock-free" || seen.property == "kl-deadlock-free")
    return stuck_wait(p, of, seen.property, std::move(schedule));
  trace t;
  t.of = of;
  t.property = seen.property;
  t.victim = seen.victim;
  t.schedule = std::move(schedule);
  if (seen.property == "fife" || seen.property == "enabled-in-order" || overtakings_allowed(seen.property)) {
    t.loop = static_cast<int>(t.schedule.size() + seen.loop);
    t.schedule.insert(t.schedule.end(), seen.own_steps.begin(), seen.own_steps.end());
    t.what = fmt::format(
        "process {} {} and can be kept out for ever", seen.victim,
        seen.property == "enabled-in-order" ? "waits while one that started later is enabled" : "is overtaken");
  } else if (seen.property == "bounded-exit") {
    t.what = fmt::format("process {} waits in its exit", seen.victim);
  } else if (seen.property == "local-waiting") {
    t.what = fmt::format("process {} waits at a variable that is not at home with it", seen.victim);
  } else if (seen.property == "k-exclusion") {
    t.what = too_many_inside(p.k());
  } else if (seen.property == "distinct-names") {
    t.what = "two processes inside hold the same name, or one not below k";
  } else if (passings_allowed(seen.property)) {
    t.what =
        fmt::format("process {} gets from its remainder to inside again and again while process {} is in its entry",
                    scheduled_process(t.schedule.back()), seen.victim);
  } else if (seen.property == "k-fcfs") {
    t.what = p.k() == 1 ? fmt::format("process {} started after another was past its doorway and got inside before it",
                                      scheduled_process(t.schedule.back()))
                        : fmt::format(
                              "process {} started after {} others were past their doorways and got inside "
                              "before any of them",
                              scheduled_process(t.schedule.back()), p.k());
  } else if (seen.victim >= 0) {
    t.what = fmt::format("process {} arrives and enters while process {} {}", scheduled_process(t.schedule.back()),
                         seen.victim, seen.property == "fifo" ? "is in its entry" : "waits and is not enabled");
  } else if (seen.property == "l-full" || seen.property == "l-queuelike") {
    t.what =
        "fewer processes are enabled than there are free permits and processes in their entry, or the exit takes "
        "more than one step";
  } else {
    t.what = "what is written beside the text as its invariant is not true";
  }
  return t;
}

}  // namespace kgate::lab
