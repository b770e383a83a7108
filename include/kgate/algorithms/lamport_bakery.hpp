// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Lamport's bakery: mutual exclusion by numbers that each process takes for itself, on registers that need not be
/// atomic.
///
/// Source       Lamport 1974 ("A new solution of Dijkstra's concurrent programming problem"). k = 1 only.
/// Promises     mutual exclusion, starvation freedom if none crashes, first come first served, exit of one write. One
///              crash can stop it. Theta(N) remote references a passage on CC, unbounded DSM. Primitives: reads and
///              writes, neither of them atomic. Space: 2N variables, of which N grow without bound.
/// Variables    choosing[p]  boolean      p is taking its number; local to p        initially false
///              number[p]    0, 1, 2 ...  p's number, 0 if it has none; local to p  initially 0
/// Invariants   a process inside has the least (number, process) of all whose number is not 0
/// Deviations   none. The source has no labels; here 1-4 are the doorway, 5 and 6 the two waits, 7 the exit.
/// Memory model sequential consistency, or safe registers: a read that overlaps a write may return anything
/// Evidence     tests/algorithms/classics (properties, also on safe registers, mutants), tests/algorithms/native
///              (stress)

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "kgate/detail/fixed_array.hpp"
#include "kgate/detail/machine.hpp"

namespace kgate {

template <class M>
class lamport_bakery {
 public:
  using Process = typename M::Process;
  using Private = nothing_private;

  lamport_bakery(typename M::Memory& memory, int N, int /*k*/)
      : choosing(static_cast<std::size_t>(N),
                 [&](std::size_t i) {
                   return typename M::template Var<std::uint32_t>(
                       memory, {.name = "choosing", .home = pid(static_cast<int>(i))}, 0U);
                 }),
        number(static_cast<std::size_t>(N),
               [&](std::size_t i) {
                 return typename M::template Var<std::uint32_t>(
                     memory, {.name = "number", .home = pid(static_cast<int>(i))}, 0U);
               }),
        N_(N) {}

  void acquire(Process& p, Private&) {
    [[maybe_unused]] auto frame = p.frame();
    choosing[p.id()].write(p["1"], 1U);
    std::uint32_t highest = 0;
    for (int j = 0; j < N_; ++j) {
      p.live(j, highest);
      highest = std::max(highest, number[pid(j)].read(p["2"]));
    }
    const std::uint32_t mine = highest + 1;
    p.live(mine);
    number[p.id()].write(p["3"], mine);
    choosing[p.id()].write(p["4"], 0U);
    p.doorway_end();
    for (int j = 0; j < N_; ++j) {
      if (pid(j) == p.id()) continue;
      p.live(j, mine);
      while (choosing[pid(j)].read(p["5"]) != 0) {
        p.live(j, mine);
        p.pause();
      }
      p.live(j, mine);
      while (goes_first(number[pid(j)].read(p["6"]), pid(j), mine, p.id())) {
        p.live(j, mine);
        p.pause();
      }
    }
  }

  void release(Process& p, Private&) {
    [[maybe_unused]] auto frame = p.frame();
    number[p.id()].write(p["7"], 0U);
  }

 private:
  /// Whether q with number n comes before p with its own.
  static bool goes_first(std::uint32_t n, process_id q, std::uint32_t mine, process_id p) {
    return n != 0 && std::pair(n, q.value) < std::pair(mine, p.value);
  }

  fixed_array<typename M::template Var<std::uint32_t>> choosing;
  fixed_array<typename M::template Var<std::uint32_t>> number;
  const int N_;
};

}  // namespace kgate
