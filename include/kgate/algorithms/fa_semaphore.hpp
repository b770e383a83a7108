// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The fetch-and-add semaphore: takes a unit if one seems left, gives it back if it was too late, and tries again.
///
/// Source       Gottlieb, Lubachevsky & Rudolph 1983 (the P and V of test-decrement-retest), in table 1 of Anderson &
///              Moir 1997. Baseline.
/// Promises     k-exclusion, deadlock freedom with at most k-1 crashes, exit of one step. Not starvation free. Remote
///              references unbounded on CC and DSM. Primitives: fetch-and-add. Space: one variable.
/// Variables    S  k-N..k  units left; negative while some hold a unit they are about to give back   initially k
/// Invariants   S = k - |{p : p@{3,4,CS}}|;  a process is inside only if it took S from above 0
/// Deviations   none. The statements have no labels in the source; here 1 test, 2 decrement and retest, 3 undo, 4 V.
/// Memory model sequential consistency
/// Evidence     tests/algorithms/am97 (starvation with its trace), tests/algorithms/native (stress)

#include "kgate/detail/machine.hpp"

namespace kgate {

template <class M>
class fa_semaphore {
 public:
  using Process = typename M::Process;
  using Private = nothing_private;

  fa_semaphore(typename M::Memory& memory, int /*N*/, int k) : S(memory, {.name = "S"}, k) {}

  void acquire(Process& p, Private&) {
    [[maybe_unused]] auto frame = p.frame();
    for (;;) {
      S.await(p["1"], [](int s) { return s > 0; });
      p.live();
      if (S.fetch_add(p["2"], -1) > 0) return;
      p.live();
      S.fetch_add(p["3"], 1);
      p.live();
      p.pause();
    }
  }

  void release(Process& p, Private&) {
    [[maybe_unused]] auto frame = p.frame();
    S.fetch_add(p["4"], 1);
  }

 private:
  typename M::template Var<int> S;
};

}  // namespace kgate
