// SPDX-License-Identifier: Apache-2.0
#pragma once

/// One block of local-spin k-exclusion for machines without coherent caches: as figure 3, but each process waits on a
/// word of its own.
///
/// Source       Anderson & Moir 1997, figure 8, statements 2-8 and 10-14. Statements 1 and 15 belong to the shape that
///              nests the blocks.
/// Promises     k-exclusion and starvation freedom with at most k-1 crashes, if at most k+1 processes are between
///              acquire and the end of release. Exit bounded (5 steps). 9 remote references a passage on DSM.
///              Primitives: fetch-and-add, test-and-set. Space: N+2 variables.
/// Variables    X     -1..k    slots left                           initially k
///              Q     0..N-1   whose spin word is in use            initially 0
///              P[p]  boolean  p is released; local to p            initially false for p = 0, else true
/// Invariants   I6   X = k - |{p : p@{3..10}}|
///              I7   P[q] is false only for q = Q; all P are true iff some p is at 5, 6, 13 or 14
///              I8   at most one process is at 5, 6, 13 or 14
///              I9   p at 6 or 14, or at 7 or 8 with P[p] false  =>  Q = p
///              I10  X < 0  =>  some r is at 3, at 4 with v = Q, at 5 or 6, or at 7 or 8 with P[r] false
///              I11  |{p : p@9}| <= k
/// Deviations   none
/// Memory model sequential consistency; P[p] false (6) must be visible before X is read (7)
/// Evidence     tests/algorithms/am97 (all properties), tests/algorithms/am97/mutants_test, tests/lab/rmr_test,
///              tests/algorithms/native (stress)

#include <cstddef>

#include "kgate/algorithms/am97_places.hpp"
#include "kgate/detail/fixed_array.hpp"
#include "kgate/detail/machine.hpp"

namespace kgate::am97 {

template <class M>
class figure8 {
 public:
  using Process = typename M::Process;
  /// What the blocks of one algorithm have in common: nothing, each has its own spin words.
  struct Shared {
    Shared(typename M::Memory&, int /*N*/) {}
  };

  figure8(typename M::Memory& memory, Shared&, int N, int k, int instance)
      : X(memory, {.name = "X", .instance = instance}, k),
        Q(memory, {.name = "Q", .instance = instance}, pid(0)),
        P(static_cast<std::size_t>(N), [&](std::size_t i) {
          const process_id home = pid(static_cast<int>(i));
          return Spin(memory, {.name = "P", .instance = instance, .home = home}, home != pid(0));
        }) {}

  void acquire(Process& p) {
    [[maybe_unused]] auto frame = p.frame();
    if (X.fetch_add(p["2"], -1) == 0) {
      p.live();
      const process_id v = Q.read(p["3"]);
      if (!P[v].test_and_set(p["4"])) {  // I8: only one process replaces the one that waits
        p.live();
        Q.write(p["5"], p.id());
        P[p.id()].write(p["6"], false);
        if (X.read(p["7"]) < 0) P[p.id()].await(p["8"], [](bool released) { return released; });
      }
    }
  }

  void release(Process& p) {
    [[maybe_unused]] auto frame = p.frame();
    X.fetch_add(p["10"], 1);  // I6
    p.live();
    const process_id v = Q.read(p["11"]);
    if (!P[v].test_and_set(p["12"])) {
      p.live();
      Q.write(p["13"], p.id());  // pretends to wait, so that I7 holds again after 14
      P[p.id()].write(p["14"], false);
    }
  }

  /// Of the only block, where N = k+1: the invariant that is false, or nothing. I10 without its v, which is private.
  template <class State>
  const char* broken_invariant(const State& s) const {
    const int x = s.value(X), k = s.processes() - 1, inside = s.count(region::critical);
    const process_id q = s.value(Q);
    const auto released = [&](int p) { return s.value(P[static_cast<std::size_t>(p)]); };
    if (x != k - count_at(s, {"3", "4", "5", "6", "7", "8"}) - inside) return "I6 is false";
    for (int p = 0; p < s.processes(); ++p) {
      if (!released(p) && q != pid(p)) return "I7 is false";
      if ((is_at(s, p, {"6", "14"}) || (is_at(s, p, {"7", "8"}) && !released(p))) && q != pid(p)) return "I9 is false";
    }
    const int replacing = count_at(s, {"5", "6", "13", "14"});
    if ((replacing > 0) == somebody(s, [&](int p) { return !released(p); })) return "I7 is false";
    if (replacing > 1) return "I8 is false";
    if (x < 0 && !somebody(s, [&](int r) {
          return is_at(s, r, {"3", "4", "5", "6"}) || (is_at(s, r, {"7", "8"}) && !released(r));
        }))
      return "I10 is false";
    return inside > k ? "I11 is false" : "";
  }

 private:
  using Spin = typename M::template Var<bool>;

  typename M::template Var<int> X;
  typename M::template Var<process_id> Q;
  fixed_array<Spin> P;
};

}  // namespace kgate::am97
