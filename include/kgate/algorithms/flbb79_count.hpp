// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The COUNT semaphore: one variable counts those inside; a process enters by raising it in one step if it is below k.
///
/// Source       Fischer, Lynch, Burns & Borodin 1979, section 1. Baseline.
/// Promises     k-exclusion, no k-deadlock (deadlock freedom with at most k-1 crashes), exit of one step. A process may
///              be locked out. Remote references unbounded on CC and DSM. Primitives: read-modify-write,
///              fetch-and-add. Space: one variable.
/// Variables    COUNT  0..k  how many are inside   initially 0
/// Invariants   COUNT = |{p : p inside}|
/// Deviations   D1  between two tries a process waits until it sees COUNT below k, instead of trying at once: the same
///                  outcomes, and a wait that native policies can sleep in. The paper has no labels; here 1 try, 2
///                  wait, 3 exit.
/// Memory model sequential consistency
/// Evidence     tests/algorithms/am97 (lockout with its trace), tests/algorithms/native (stress)

#include "kgate/detail/machine.hpp"

namespace kgate::flbb79 {

template <class M>
class count {
 public:
  using Process = typename M::Process;
  using Private = nothing_private;

  count(typename M::Memory& memory, int /*N*/, int k) : COUNT(memory, {.name = "COUNT"}, 0), k_(k) {}

  void acquire(Process& p, Private&) {
    [[maybe_unused]] auto frame = p.frame();
    const auto has_room = [this](int inside) { return inside < k_; };
    while (!has_room(COUNT.rmw(p["1"], [&](int inside) { return has_room(inside) ? inside + 1 : inside; }))) {
      p.live();
      COUNT.await(p["2"], has_room);
      p.live();
    }
  }

  void release(Process& p, Private&) {
    [[maybe_unused]] auto frame = p.frame();
    COUNT.fetch_add(p["3"], -1);
  }

 private:
  typename M::template Var<int> COUNT;
  const int k_;
};

}  // namespace kgate::flbb79
