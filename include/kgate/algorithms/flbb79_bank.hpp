// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The bank teller: a queue in front of a counter of free permits.
///
/// Source       Fischer, Lynch, Burns & Borodin 1979, section 1 and theorem 4.1, over any 1-exclusion lock.
/// Promises     k-exclusion; without crashes, the fairness of the lock (starvation free, bounded waiting, FIFO).
///              **One** crash between 1 and 3 stops all that come later, whatever k is. Exit: one step. Remote
///              references: those of the lock while queueing; unbounded at the head of the queue. Primitives: those of
///              the lock, fetch-and-add. Space: the lock and one counter.
/// Variables    COUNT  0..k   processes inside, or about to be   initially 0
/// Invariants   COUNT = |{p : p has passed 2 and not 5}| <= k
/// Deviations   D1  statement 2 (wait until COUNT < l, then add 1) takes two steps: only the holder of the lock raises
///                  COUNT, so what it has seen free stays free.
/// Memory model sequential consistency
/// Evidence     tests/algorithms/flbb79 (no crash; one crash stops it; lemma 4.1 over MCS and over coloured tickets),
///              tests/algorithms/native (stress)

#include <type_traits>

#include "kgate/detail/machine.hpp"

namespace kgate::flbb79 {

template <class M, template <class> class Lock>
class bank {
 public:
  using Process = typename M::Process;
  using Private = typename Lock<M>::Private;

  bank(typename M::Memory& memory, int N, int k) : k_(k), lock_(memory, N, 1), COUNT(memory, {.name = "COUNT"}, 0) {}

  void acquire(Process& p, Private& mine) {
    lock_.acquire(p["1"], mine);
    COUNT.await(p["2"], [&](int inside) { return inside < k_; });
    COUNT.fetch_add(p["2"], 1);
    if constexpr (std::is_empty_v<Private>) {
      p.live();
      lock_.release(p["3"], mine);
    } else {
      p.live(mine);
      lock_.release(p["3"], mine);
      mine = {};
      p.live();
    }
  }

  void release(Process& p, Private&) {
    [[maybe_unused]] auto frame = p.frame();
    COUNT.fetch_add(p["5"], -1);
  }

 private:
  int k_;
  Lock<M> lock_;
  typename M::template Var<int> COUNT;
};

}  // namespace kgate::flbb79
