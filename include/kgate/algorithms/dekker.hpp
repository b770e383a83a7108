// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Dekker's algorithm: the first mutual exclusion of two processes from reads and writes.
///
/// Source       Dijkstra 1968 ("Cooperating sequential processes", section 2.1, where it is Dekker's). k = 1 and
///              N <= 2 only.
/// Promises     mutual exclusion, starvation freedom if none crashes, exit of two steps. One crash can stop it. At
///              most 13 remote references a passage on CC, unbounded DSM. Primitives: reads and writes. Space: three
///              variables.
/// Variables    flag[p]  boolean  p wants to enter, and has not given way   initially false
///              turn     0..1     which need not give way                   initially arbitrary; here process 0
/// Invariants   a process inside has its flag up; a flag is lowered in the entry only by the process whose turn it is
///              not
/// Deviations   none. The source has no labels; here 1-6 are the entry and 7-8 the exit, in order.
/// Memory model sequential consistency; flag[p] (1, 6) must be visible before the other's is read (2)
/// Evidence     tests/algorithms/classics (properties, mutants, remote references), tests/algorithms/native (stress)

#include "kgate/detail/fixed_array.hpp"
#include "kgate/detail/machine.hpp"

namespace kgate {

template <class M>
class dekker {
 public:
  using Process = typename M::Process;
  using Private = nothing_private;
  static constexpr int processes_max = 2;

  dekker(typename M::Memory& memory, int /*N*/, int /*k*/)
      : flag(processes_max,
             [&](std::size_t i) {
               return typename M::template Var<bool>(memory, {.name = "flag", .home = pid(static_cast<int>(i))}, false);
             }),
        turn(memory, {.name = "turn"}, pid(0)) {}

  void acquire(Process& p, Private&) {
    [[maybe_unused]] auto frame = p.frame();
    flag[p.id()].write(p["1"], true);
    for (;;) {
      p.live();
      if (!flag[other(p)].read(p["2"])) return;
      if (turn.read(p["3"]) == p.id()) {
        p.pause();
        continue;
      }
      p.live();
      flag[p.id()].write(p["4"], false);
      turn.await(p["5"], [&](process_id q) { return q == p.id(); });
      flag[p.id()].write(p["6"], true);
    }
  }

  void release(Process& p, Private&) {
    [[maybe_unused]] auto frame = p.frame();
    turn.write(p["7"], other(p));
    flag[p.id()].write(p["8"], false);
  }

 private:
  static process_id other(const Process& p) { return pid(1 - p.id().value); }

  fixed_array<typename M::template Var<bool>> flag;
  typename M::template Var<process_id> turn;
};

}  // namespace kgate
