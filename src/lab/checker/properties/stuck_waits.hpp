// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Stuck waits: a process in its entry that is blocked, or that goes round a loop of reads and finds nothing
/// changed.
///
/// A state in which a process waits with nothing left to change it and at most `crashes` processes outside their
/// remainder do not is a deadlock: if those crash, nothing changes any more. The converse holds if no process can take
/// steps in its exit without end and no loop in an entry writes: then a run in which none enters any more comes to such
/// a state. So deadlock freedom can be decided state by state, and on states reduced by symmetry.

#include <string>
#include <vector>

#include "lab/checker/explore/explorer.hpp"
#include "lab/checker/trace/trace.hpp"

namespace kgate::lab {

/// How many steps of its own take `process` back to its local state `start`, with the shared variables as value(v)
/// gives them, without a write and without leaving its entry; 0 if none do, or none of `longest`, -1 if it is blocked
/// at once.
template <class Value>
int stuck_round(program& p, int process, local_id start, Value&& value, int longest) {
  local_id at = start;
  local_id earlier = start;  // Brent: a loop that start is not on is noticed where it was some steps ago
  for (int steps = 1; steps <= longest; ++steps) {
    const local_state& here = p.local(process, at);
    if (here.where != region::entry) return 0;
    const transition t = p.step(process, at, here.variable < 0 ? 0 : value(here.variable));
    if (t.blocked) return steps == 1 ? -1 : 0;
    if (t.writes) return 0;
    at = t.next;
    if (at == start) return steps;
    if (at == earlier) return 0;
    if ((steps & (steps - 1)) == 0) earlier = at;
  }
  return 0;
}

template <class Value>
int stuck_round(program& p, int process, local_id start, Value&& value) {
  return stuck_round(p, process, start, value, static_cast<int>(p.locals(process)));
}

/// A stored state that is a deadlock in this sense; no_state if there is none.
state_id find_stuck_wait(exploration& e, int crashes);

/// True if some process can go round a loop in its entry that writes.
bool writes_in_entry_loop(const program& p);

/// The schedule as a run that violates `property`: at its end those that wait with nothing left to change it go round
/// for ever, the others crash.
trace stuck_wait(program& p, const program_name& of, const std::string& property, std::vector<int> schedule);

}  // namespace kgate::lab
