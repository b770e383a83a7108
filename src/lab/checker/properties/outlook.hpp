// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What is wrong in a state, and what can still go wrong from there: for people who step through an algorithm by hand.

#include <map>
#include <string>
#include <vector>

#include "lab/checker/graph/graph.hpp"

namespace kgate::lab {

/// The states of all fair components, with these processes crashed, in which no process enters although one waits; and
/// those in which some process stays in its entry for ever. A component is what liveness.hpp calls bad.
std::vector<bool> states_of_deadlock(const state_graph& g, process_set crashed, watch& w);
std::vector<bool> states_of_starvation(const state_graph& g, process_set crashed, watch& w);

/// Of each property judged so, in the order of outlook::properties().
enum class outlook_of { cannot_break, can_break, broken };
const char* to_string(outlook_of o);

class outlook {
 public:
  /// `e` must be complete and made without symmetry.
  outlook(exploration& e, const state_graph& g, watch& w);

  const std::vector<std::string>& properties() const { return properties_; }

  /// If these processes have crashed and no other one does. A property of states is broken where it is false, and can
  /// break if a run leads to such a state. One of progress is broken if no run lets a process that waits in its entry
  /// enter (deadlock-free: lets any process enter), and can break if a fair run keeps one there for ever.
  std::vector<outlook_of> at(state_id s, process_set crashed);

 private:
  struct future {
    std::vector<std::vector<bool>> can_break;  // [property][state]
    std::vector<std::vector<bool>> can_enter;  // [process][state]
  };
  const future& with(process_set crashed);
  /// All states from which `there` can be reached, without steps of the crashed.
  std::vector<bool> leading_to(std::vector<bool> there, process_set crashed) const;

  const state_graph& graph_;
  watch& watch_;
  std::vector<std::string> properties_;
  std::vector<std::vector<bool>> false_at_;  // of the properties of states, [property][state]
  std::vector<std::size_t> first_before_;    // where the predecessors of a state begin
  std::vector<std::pair<state_id, int>> before_;
  std::map<process_set, future> futures_;
};

}  // namespace kgate::lab
