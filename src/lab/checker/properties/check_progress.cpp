// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "lab/checker/graph/local_analysis.hpp"
#include "lab/checker/graph/quotient.hpp"
#include "lab/checker/properties/checking.hpp"
#include "lab/checker/properties/stuck_waits.hpp"
#include "lab/checker/trace/way.hpp"

namespace kgate::lab {

namespace {

template <class F>
void in_state(const exploration& e, state_id s, F&& f) {
  with_words(e.store->words(), [&]<unsigned W>() {
    for_each_step<W>(
        *e.table, no_observer{}, e.contention, e.store->record(s), [&](const step& it, const std::uint64_t*) { f(it); },
        [&](const step& it) { f(it); });
  });
}

}  // namespace

void checking::deadlock(property_result& r) {
  if (explored_.deadlock != no_state) {
    lasso run;
    run.crashed = movable(explored_.deadlock);
    return violated(r, explored_.deadlock, "a process waits in its entry and nobody alive can move", run);
  }
  if (!explored_.complete) return undecided(r, explored_.why);
  // Without busy loops in the automata a run in which no process enters comes to rest, and rest was looked for.
  if (!has_cycle_in(program_, region::entry) && !has_cycle_in(program_, region::exit)) {
    r.is = verdict::holds;
    return;
  }
  if (request_.symmetry) return deadlock_by_symmetry(r);
  if (!linked()) return undecided(r, watch_.why());
  by_lasso(r, find_deadlock(*graph_, *depths_, request_.crashes, watch_, request_.limits.threads),
           "a process is in its entry and nobody ever enters");
}

void checking::deadlock_by_symmetry(property_result& r) {
  if (has_cycle_in(program_, region::exit) || writes_in_entry_loop(program_))
    return undecided(r, "processes loop in their exit, or write in a loop of their entry; decide without symmetry");
  const state_id bad = find_stuck_wait(explored_, request_.crashes);
  r.is = bad == no_state ? verdict::holds : verdict::violated;
  if (bad != no_state)
    r.counterexample = stuck_wait(program_, request_.of, r.name, way_to(explored_, bad, true).schedule);
}

void checking::starvation(property_result& r) {
  if (!explored_.complete) return undecided(r, explored_.why);
  if (request_.symmetry) return starvation_by_symmetry(r);
  if (!linked()) return undecided(r, watch_.why());
  const liveness_result found = find_starvation(*graph_, *depths_, request_.crashes, watch_, request_.limits.threads);
  by_lasso(r, found, found.found ? fmt::format("process {} stays in its entry for ever", found.found->victim) : "");
}

void checking::starvation_by_symmetry(property_result& r) {
  const quotient_graph reduced(explored_, watch_, request_.limits);
  if (!reduced.complete()) return undecided(r, watch_.why());
  const liveness_result found = find_starvation(reduced, depths(explored_), request_.crashes, watch_, request_.limits,
                                                explored_.store->bytes(explored_.states));
  by_lasso(r, found, "");
  if (found.found)
    r.counterexample->what = fmt::format("process {} stays in its entry for ever", r.counterexample->victim);
}

void checking::bounded_exit(property_result& r) {
  if (explored_.exit_blocked != no_state) {
    lasso run;
    run.victim = blocked_in_exit(explored_.exit_blocked);
    violated(r, explored_.exit_blocked, "", run);
    r.counterexample->what = fmt::format("process {} waits in its exit", r.counterexample->victim);
    return;
  }
  if (!explored_.complete) return undecided(r, explored_.why);
  if (!has_cycle_in(program_, region::exit)) {
    r.is = verdict::holds;
    r.figures.emplace_back("steps", exit_steps_max(program_));
    return;
  }
  if (request_.symmetry) return undecided(r, "processes loop in their exit; decide without symmetry");
  if (!linked()) return undecided(r, watch_.why());
  by_lasso(r, find_endless_exit(*graph_, *depths_, watch_, request_.limits.threads),
           "a process takes steps in its exit for ever");
}

process_set checking::movable(state_id s) {
  process_set all = 0;
  in_state(explored_, s, [&](const step& it) {
    // As the explorer counts them: one that could only die (a choice of its own) does not move.
    if (!it.entry.blocked() && it.row.where != region::remainder && it.choice == 0) all |= only(it.p);
  });
  return all;
}

int checking::blocked_in_exit(state_id s) {
  int victim = -1;
  in_state(explored_, s, [&](const step& it) {
    if (it.entry.blocked() && it.row.where != region::entry) victim = it.p;
  });
  return victim;
}

}  // namespace kgate::lab
