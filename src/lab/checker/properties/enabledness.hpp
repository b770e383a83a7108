// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Which processes are enabled to enter, in every state.
///
/// Afek, Dolev, Gafni, Merritt & Shavit 1994, definition 2.4: p is enabled in s if it enters in every run from s in
/// which it takes infinitely many steps, whatever the others do, and however many of them stop. (Danek 2010 asks for a
/// bounded number of own steps; with finitely many states that is the same.) A failed look at a variable that p awaits
/// counts as a step, as it is one on a real machine. So p, in its entry, is *kept out* in s iff some run from s stays
/// in p's entry and leads to a state in which p is blocked (it waits for ever while the others have stopped) or
/// round a cycle on which p steps.
///
/// Being enabled lasts until p enters: what is kept out in a successor is kept out before.

#include <cstddef>
#include <vector>

#include "lab/checker/graph/graph.hpp"

namespace kgate::lab {

class enabledness {
 public:
  /// `w` may end it early; then complete() is false.
  enabledness(const state_graph& g, watch& w, int threads);

  bool complete() const { return complete_; }
  /// The processes in their entry that are not enabled.
  process_set kept_out(state_id s) const { return kept_out_[s]; }

  /// A run from s that shows that p is kept out: the steps from `loop` on repeat for ever, or, if there are none, p is
  /// blocked and all the others have stopped. Prefers one in which p runs alone.
  struct endless_wait {
    std::vector<int> steps;
    std::size_t loop = 0;
  };
  endless_wait wait_of(state_id s, int p, watch& w) const;

 private:
  bool decide(int p, watch& w);

  const state_graph& graph_;
  bool complete_ = true;
  std::vector<process_set> kept_out_;
};

}  // namespace kgate::lab
