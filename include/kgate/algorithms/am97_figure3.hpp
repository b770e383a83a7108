// SPDX-License-Identifier: Apache-2.0
#pragma once

/// One block of local-spin k-exclusion for cache-coherent machines: lets at most k of the at most k+1 processes at it
/// pass.
///
/// Source       Anderson & Moir 1997, figure 3, statements 2-5 and 7-8. Statements 1 and 9 (the Acquire and Release of
///              the enclosing levels) belong to the shape that nests the blocks: am97_chain.hpp, am97_tree.hpp,
///              am97_fastpath.hpp.
/// Promises     k-exclusion and starvation freedom with at most k-1 crashes, if at most k+1 processes are between
///              acquire and the end of release. Exit bounded (2 steps). 7 remote references a passage on CC if a write
///              leaves the writer no copy, 6 otherwise; unbounded on DSM. Primitives: fetch-and-add. Space: two
///              variables.
/// Variables    X  -1..k    slots left                        initially k
///              Q  0..N-1   which waits; assigned to release  initially arbitrary; here process 0
/// Invariants   I2  X = k - |{p : p@{3..7}}|
///              I3  X < 0  =>  some p is at 3, or at 4 or 5 with Q = p
///              I4  |{p : p@6}| <= k
/// Deviations   none
/// Memory model sequential consistency; the write of Q (3) must be visible before X is read (4)
/// Evidence     tests/algorithms/am97 (all properties), tests/algorithms/am97/mutants_test (7 and 8 swapped, 4 left
///              out, 8 dropped ...), tests/lab/rmr_test, tests/algorithms/native (instructions, stress)

#include "kgate/algorithms/am97_places.hpp"
#include "kgate/detail/machine.hpp"

namespace kgate::am97 {

template <class M>
class figure3 {
 public:
  using Process = typename M::Process;
  /// What the blocks of one algorithm have in common: nothing here; figure 9 keeps its spin words there.
  struct Shared {
    Shared(typename M::Memory&, int /*N*/) {}
  };

  figure3(typename M::Memory& memory, Shared&, int /*N*/, int k, int instance)
      : X(memory, {.name = "X", .instance = instance}, k), Q(memory, {.name = "Q", .instance = instance}, pid(0)) {}

  void acquire(Process& p) {
    [[maybe_unused]] auto frame = p.frame();
    if (X.fetch_add(p["2"], -1) == 0) {
      p.live();
      Q.write(p["3"], p.id());
      if (X.read(p["4"]) < 0)  // I3: a process is inside that will write Q
        Q.await(p["5"], [&](process_id q) { return q != p.id(); });
    }
  }

  void release(Process& p) {
    [[maybe_unused]] auto frame = p.frame();
    X.fetch_add(p["7"], 1);  // I2
    p.live();
    Q.write(p["8"], p.id());
  }

  /// Of the only block, where N = k+1: the invariant that is false, or nothing.
  template <class State>
  const char* broken_invariant(const State& s) const {
    const int x = s.value(X), k = s.processes() - 1, inside = s.count(region::critical);
    const process_id q = s.value(Q);
    if (x != k - count_at(s, {"3", "4", "5"}) - inside) return "I2 is false";
    if (x < 0 && !somebody(s, [&](int p) { return is_at(s, p, {"3"}) || (is_at(s, p, {"4", "5"}) && q == pid(p)); }))
      return "I3 is false";
    return inside > k ? "I4 is false" : "";
  }

 private:
  typename M::template Var<int> X;
  typename M::template Var<process_id> Q;
};

}  // namespace kgate::am97
