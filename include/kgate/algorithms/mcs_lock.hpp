// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The MCS queue lock: mutual exclusion in which each process waits on its own word and is released by the one before
/// it.
///
/// Source       Mellor-Crummey & Scott 1991, the list-based queuing lock with compare_and_swap. The peer of Anderson &
///              Moir's experiments; k = 1 only.
/// Promises     mutual exclusion, starvation freedom if none crashes, first come first served by the order of
///              statement 2. The exit may wait (8). 4 remote references a passage on DSM, 10 on CC. Primitives:
///              exchange, compare-and-swap. Space: 2N+1 variables.
/// Variables    tail       0..N-1, `nobody`  the last in the queue                      initially `nobody`
///              next[p]    0..N-1, `nobody`  which comes after p; local to p            initially `nobody`
///              locked[p]  boolean           p must wait; local to p                    initially false
/// Invariants   tail is `nobody` iff none is between 2 and the end of the exit; next[p] is `nobody` or the process
///              whose exchange (2) returned p
/// Deviations   none. The source has no labels; here 1-5 are acquire_lock and 6-9 release_lock, in order.
/// Memory model sequential consistency
/// Evidence     tests/algorithms/am97 (all properties but bounded exit), tests/lab/rmr_test, tests/algorithms/native
///              (stress)

#include <cstddef>

#include "kgate/detail/fixed_array.hpp"
#include "kgate/detail/machine.hpp"

namespace kgate {

template <class M>
class mcs_lock {
 public:
  using Process = typename M::Process;
  using Private = nothing_private;

  mcs_lock(typename M::Memory& memory, int N, int /*k*/)
      : tail(memory, {.name = "tail"}, nobody),
        next(static_cast<std::size_t>(N),
             [&](std::size_t i) {
               return typename M::template Var<process_id>(memory, {.name = "next", .home = pid(static_cast<int>(i))},
                                                           nobody);
             }),
        locked(static_cast<std::size_t>(N), [&](std::size_t i) {
          return typename M::template Var<bool>(memory, {.name = "locked", .home = pid(static_cast<int>(i))}, false);
        }) {}

  void acquire(Process& p, Private&) {
    [[maybe_unused]] auto frame = p.frame();
    next[p.id()].write(p["1"], nobody);
    const process_id predecessor = tail.exchange(p["2"], p.id());
    p.doorway_end();
    if (predecessor != nobody) {
      locked[p.id()].write(p["3"], true);
      next[predecessor].write(p["4"], p.id());
      p.live();
      locked[p.id()].await(p["5"], [](bool waits) { return !waits; });
    }
  }

  void release(Process& p, Private&) {
    [[maybe_unused]] auto frame = p.frame();
    process_id successor = next[p.id()].read(p["6"]);
    if (successor == nobody) {
      if (tail.compare_and_swap(p["7"], p.id(), nobody)) return;
      p.live();
      successor = next[p.id()].await_value(p["8"], [](process_id q) { return q != nobody; });
    }
    p.live(successor);
    locked[successor].write(p["9"], false);
  }

 private:
  typename M::template Var<process_id> tail;
  fixed_array<typename M::template Var<process_id>> next;
  fixed_array<typename M::template Var<bool>> locked;
};

}  // namespace kgate
