// SPDX-License-Identifier: Apache-2.0
#pragma once

/// In which order processes get in, decided on the state graph. "Past its doorway" means in the entry, after
/// p.doorway_end(); q starts its entry with its first step out of the remainder.
///
/// fife (Afek, Dolev, Gafni, Merritt & Shavit 1994, definition 2.5, with the enabledness of definition 2.4): if p was
/// past its doorway before q started, q is inside and p is still past its doorway, then p is enabled. Being enabled
/// lasts, so it is enough to look at the moment q gets inside.
///
/// enabled-in-order (the same paper, definition 5.1): if p was past its doorway before q started, both are past theirs
/// and q is enabled, then p is enabled. Neither implies the other: q may get inside without having been enabled.
///
/// k-fcfs (Danek 2010, section 2): if k processes were past their doorways before q started, then q does not get inside
/// before one of them does.
///
/// bounded-waiting (Fischer, Lynch, Burns & Borodin 1979, C4', b-bounded waiting for enabling): while p waits and is
/// not enabled, no other process goes from its remainder to its critical section more than b times; a last trip whose
/// last step enables p is counted, as in the paper. Two things differ from the letter of C4'. Enabled is what it is for
/// fife, not "the very next step enters", which no algorithm with more than one step after its enabling could keep. And
/// where the text marks a doorway, p waits from its end on: the paper's entries have a doorway of one step. The exit,
/// which C4' covers too, is the matter of bounded-exit.
///
/// bounded-overtaking (the same paper, C4, b-bounded waiting): the same by its letter, of a process in its entry, from
/// its first step on and until it is inside.
///
/// All speak of all runs: a crashed process is one that takes no more steps, and no process needs to take any.
///
/// No order needs to be stored in the states: a run in which p was first is a walk through states of the plain graph
/// that begins with q's start while p is past its doorway and lasts while p stays there and q is in its entry.

#include <optional>
#include <string>
#include <vector>

#include "lab/checker/properties/enabledness.hpp"

namespace kgate::lab {

/// A bad run: a path to `from`, then `steps`, of which those from `loop` on repeat for ever (-1: the run ends with
/// them).
struct unfair_run {
  state_id from = no_state;
  std::vector<int> steps;  ///< the steps of the graph, in order
  int loop = -1;
  process_set overtaken = 0;
  int by = -1;
};

struct fairness_result {
  bool complete = true;
  std::optional<unfair_run> found;
};

fairness_result find_fife_violation(exploration& e, const state_graph& g, const enabledness& who, watch& w,
                                    int threads);
fairness_result find_enabled_out_of_order(exploration& e, const state_graph& g, const enabledness& who, watch& w,
                                          int threads);
fairness_result find_kfcfs_violation(exploration& e, const state_graph& g, watch& w, int threads);

/// Larger bounds are not told apart.
inline constexpr int waiting_bound_max = 254;

/// What is found: one waits for ever, not enabled, while another gets in again and again. Else `b` is the bound.
struct waiting_result : fairness_result {
  int b = 0;
};
waiting_result find_waiting_bound(exploration& e, const state_graph& g, const depths& d, const enabledness& who,
                                  watch& w);
/// bounded-overtaking: the same of processes in their entry, enabled or not.
waiting_result find_overtaking_bound(exploration& e, const state_graph& g, const depths& d, watch& w);

/// A state in which p makes a step of a run that stays in its doorway for ever; no_state if there is none.
state_id find_endless_doorway(const exploration& e, const state_graph& g, int p, watch& w);

/// What these searches need beside the graph, at most.
std::uint64_t fairness_bytes(const state_graph& g, int threads);

}  // namespace kgate::lab
