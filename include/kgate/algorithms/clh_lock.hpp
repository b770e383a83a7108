// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The CLH queue lock: mutual exclusion in which each process waits for the word of the one before it, and takes that
/// word with it.
///
/// Source       Craig 1993; Magnusson, Landin & Hagersten 1994. k = 1 only.
/// Promises     mutual exclusion, starvation freedom if none crashes, first come first served by the order of
///              statement 3, exit of two steps. One crash can stop it. 7 remote references a passage on CC, unbounded
///              DSM. Primitives: exchange. Space: 2N+2 variables.
/// Variables    tail       0..N     the node of the last in the queue                initially N
///              locked[i]  boolean  the owner of node i is inside or waits           initially false
///              node[p]    0..N     the node p will use next; local to p             initially p
/// Invariants   each node is node[p] of one p between its passages, held by one process in its passage, or the tail's
///              when none is in its passage
/// Deviations   D1  node[p] is a variable that only p uses: what a process keeps from one passage to the next must be
///                  one here. The sources have no labels; here 1-4 are acquire and 5-6 release, in order.
/// Memory model sequential consistency
/// Evidence     tests/algorithms/classics (properties, mutants, remote references), tests/algorithms/native (stress)

#include <cstddef>

#include "kgate/detail/fixed_array.hpp"
#include "kgate/detail/machine.hpp"

namespace kgate {

template <class M>
class clh_lock {
 public:
  using Process = typename M::Process;
  struct Private {
    int mine = 0;
    int before = 0;
  };

  clh_lock(typename M::Memory& memory, int N, int /*k*/)
      : tail(memory, {.name = "tail"}, N),
        locked(static_cast<std::size_t>(N) + 1,
               [&](std::size_t i) {
                 return
                     typename M::template Var<bool>(memory, {.name = "locked", .instance = static_cast<int>(i)}, false);
               }),
        node(static_cast<std::size_t>(N), [&](std::size_t i) {
          return typename M::template Var<int>(memory, {.name = "node", .home = pid(static_cast<int>(i))},
                                               static_cast<int>(i));
        }) {}

  void acquire(Process& p, Private& its) {
    its.mine = node[p.id()].read(p["1"]);
    p.live(its.mine);
    locked[static_cast<std::size_t>(its.mine)].write(p["2"], true);
    its.before = tail.exchange(p["3"], its.mine);
    p.doorway_end();
    p.live(its.mine, its.before);
    locked[static_cast<std::size_t>(its.before)].await(p["4"], [](bool waits) { return !waits; });
  }

  void release(Process& p, Private& its) {
    locked[static_cast<std::size_t>(its.mine)].write(p["5"], false);
    p.live(its.before);
    node[p.id()].write(p["6"], its.before);
  }

 private:
  typename M::template Var<int> tail;
  fixed_array<typename M::template Var<bool>> locked;
  fixed_array<typename M::template Var<int>> node;
};

}  // namespace kgate
