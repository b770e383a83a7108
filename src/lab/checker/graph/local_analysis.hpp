// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What the automaton of a process tells by itself, once the exploration has discovered all of it that is reachable.

#include <vector>

#include "lab/checker/model/program.hpp"

namespace kgate::lab {

/// True if some process can take steps in `where` without end: its automaton has a cycle there.
bool has_cycle_in(const program& p, region where);

/// The local states of p in `where` at which a run that stays there for ever can be found again and again: those that
/// await, and those on a cycle of the automaton within `where`.
std::vector<bool> recurrent_locals(const program& p, int process, region where);

/// The local states of p before the end of its doorway at which it awaits something, and those on a cycle of its
/// automaton there: where it may wait, if it does in some state.
std::vector<bool> recurrent_in_doorway(const program& p, int process);

/// The most steps any process takes in its exit, counted on the automata; has_cycle_in(p, region::exit) must be false.
int exit_steps_max(const program& p);

/// What the text of a program says of doorways.
enum class doorways {
  marked,
  none,        ///< a process can wait, and no p.doorway_end() was met
  not_needed,  ///< the entry has no steps in which a process could be overtaken
};
doorways doorways_of(const program& p);
/// The text marks no end of a doorway.
inline constexpr const char* no_doorway =
    "not applicable: the algorithm's text marks no end of a doorway, so there is no order to respect";

}  // namespace kgate::lab
