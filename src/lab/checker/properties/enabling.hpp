// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The properties of Fischer, Lynch, Burns & Borodin 1979, section 3, which speak of processes being enabled.
///
/// Their words: a process is *able* if its next step enters the critical section; *enabled* if it is able now and stays
/// so whatever the others do (fairness.hpp's bounded waiting uses the weaker word of Afek et al.). A process blocked at
/// an await takes, in their model, a step that changes nothing. The l of the paper is k here. For atomic registers
/// only: a process has one step in a state, so steps are named by their process.

#include <cstdint>
#include <optional>
#include <vector>

#include "lab/checker/graph/graph.hpp"
#include "lab/checker/properties/liveness.hpp"

namespace kgate::lab {

/// Which processes are enabled in which state: the greatest set closed under the steps of the others. One word a state,
/// and one for the processes inside.
class enabling {
 public:
  enabling(exploration& e, const state_graph& g, watch& w);

  bool complete() const { return complete_; }
  process_set enabled(state_id s) const { return enabled_[s]; }
  process_set inside(state_id s) const { return inside_[s]; }
  /// In its entry or exit.
  static process_set protocols(const state_graph& g, state_id s) { return g.in_entry(s) | g.in_exit(s); }
  /// In its entry and not enabled.
  process_set kept_waiting(const state_graph& g, state_id s) const { return g.in_entry(s) & ~enabled_[s]; }
  process_set in_remainder(const state_graph& g, state_id s) const {
    return ~(g.in_entry(s) | g.in_exit(s) | inside_[s]) & (g.N() == 32 ? ~process_set{0} : only(g.N()) - 1);
  }

 private:
  bool complete_ = true;
  std::vector<process_set> enabled_;
  std::vector<process_set> inside_;
};

/// A state nearest to the start in which not min(k - inside, trying) processes are enabled ("l-full" fails); no_state
/// if none.
state_id find_not_full(const state_graph& g, const depths& d, const enabling& who, int k);

/// A state in which a process is in its exit region; no_state if none.
state_id find_exit_region(const state_graph& g, const depths& d);

/// What the victim of an overtaking has not come to: to be inside (C3, C5), or to be enabled (C3', C5').
enum class waits_for { inside, enabling };

inline process_set waiting(const state_graph& g, const enabling& who, waits_for what, state_id s) {
  return what == waits_for::inside ? g.in_entry(s) : who.kept_waiting(g, s);
}

/// `overtaker` arrives and enters, on the way given from `from` on, while `victim` waits.
struct overtaking {
  state_id from = no_state;
  std::vector<int> steps;
  int victim = -1;
  int overtaker = -1;
};

/// FIFO (C5) or FIFO enabling (C5'): empty if no process is overtaken so.
std::optional<overtaking> find_overtaking(const state_graph& g, const depths& d, const enabling& who, waits_for what,
                                          watch& w);

/// Finite waiting (C3) or finite waiting for enabling (C3'), with at most `crashes` processes failing: a run in which
/// the victim waits for ever while another gets inside again and again. The victim may be one that failed; a process
/// that has stopped inside or in its remainder has not failed.
liveness_result find_endless_waiting(const state_graph& g, const depths& d, const enabling& who, waits_for what,
                                     int crashes, watch& w);

/// (k,l)-deadlock (C2) with at most `crashes` processes failing: a run in which no process changes regions although a
/// living one waits, in a state with permits that are neither taken nor allocated by group enabling.
liveness_result find_group_deadlock(const state_graph& g, const depths& d, const enabling& who, int k, int crashes,
                                    watch& w);

/// The most permits allocated to processes in their entry: the size of the largest set G of them such that in every run
/// in which each of G takes a step at least |G| processes enter. At most `wanted` is looked for.
int allocated_permits(const state_graph& g, const enabling& who, state_id s, int wanted);

}  // namespace kgate::lab
