// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Peterson's N-process algorithm stopped after N-k levels, each of which holds one process back: k-exclusion from
/// reads and writes.
///
/// Source       Peterson 1981 ("Myths about the mutual exclusion problem"); the k-exclusion form is an exercise in
///              Lynch 1996, and both are in table 1 of Anderson & Moir 1997. Baseline.
/// Promises     k-exclusion, starvation freedom if none crashes, exit of one step. One crash can stop it, for any k.
///              Remote references Theta(N^3 - N k^2) CC, unbounded DSM. Primitives: reads and writes. Space: 2N-k
///              variables.
/// Variables    Q[p]     0..N-k  the level p is at; local to p   initially 0
///              TURN[j]  0..N-1  which came last to level j      initially arbitrary; here process 0
/// Invariants   at most N-j processes are past level j
/// Deviations   none. The sources have no labels; here 1 and 2 announce, 3 and 4 are the two halves of the wait, 5 the
///              exit.
/// Memory model sequential consistency; Q[p] and TURN (1, 2) must be visible before those of others are read (3, 4)
/// Evidence     tests/algorithms/am97 (one crash stops it, with its trace), tests/algorithms/native (stress)

#include <algorithm>
#include <cstddef>

#include "kgate/detail/fixed_array.hpp"
#include "kgate/detail/machine.hpp"

namespace kgate {

template <class M>
class peterson_k {
 public:
  using Process = typename M::Process;
  using Private = nothing_private;

  peterson_k(typename M::Memory& memory, int N, int k)
      : Q(static_cast<std::size_t>(N),
          [&](std::size_t i) {
            return typename M::template Var<int>(memory, {.name = "Q", .home = pid(static_cast<int>(i))}, 0);
          }),
        TURN(static_cast<std::size_t>(std::max(N - k, 0)),
             [&](std::size_t i) {
               return typename M::template Var<process_id>(
                   memory, {.name = "TURN", .instance = static_cast<int>(i) + 1}, pid(0));
             }),
        N_(N) {}

  void acquire(Process& p, Private&) {
    [[maybe_unused]] auto frame = p.frame();
    for (int j = 1; j <= static_cast<int>(TURN.size()); ++j) {
      p.live(j);
      Q[p.id()].write(p["1"], j);
      TURN[static_cast<std::size_t>(j - 1)].write(p["2"], p.id());
      while (others_reached(p, j) && TURN[static_cast<std::size_t>(j - 1)].read(p["4"]) == p.id()) p.pause();
    }
  }

  void release(Process& p, Private&) {
    [[maybe_unused]] auto frame = p.frame();
    Q[p.id()].write(p["5"], 0);
  }

 private:
  /// Whether another process was seen at level j or beyond; their levels are read one after the other.
  bool others_reached(Process& p, int j) {
    for (int q = 0; q < N_; ++q) {
      if (pid(q) == p.id()) continue;
      p.live(j, q);
      if (Q[pid(q)].read(p["3"]) >= j) {
        p.live(j);
        return true;
      }
    }
    return false;
  }

  fixed_array<typename M::template Var<int>> Q;
  fixed_array<typename M::template Var<process_id>> TURN;
  const int N_;
};

}  // namespace kgate
