// SPDX-License-Identifier: Apache-2.0
#pragma once

/// First come, first served in one variable of N^2 values: the number given out next, and the number that may enter.
///
/// Source       Fischer, Lynch, Burns & Borodin 1979: coloured tickets (theorem 4.2) with one permit and without
///              colours, in front of the bank teller of theorem 4.1 (c). The lock that theorem means, of N + 7 values,
///              is that of Cremers & Hibbard 1979, whose text is not at hand; up to N = 3 this one has no more.
/// Promises     mutual exclusion; without crashes FIFO (C5), order preserving. k = 1. Exit: one step. Remote references
///              unbounded on CC and DSM. Primitives: read-modify-write of one variable.
/// Variables    V = (next, granted)  numbers modulo N   initially (0, 0)
/// Invariants   no two processes hold the same number: at most N do, and they are consecutive
///              next = granted: none holds a number, or all do and none is left to take one
/// Deviations   no text is printed. Labels: T take a number, W wait, E exit.
/// Memory model one variable: coherence is enough
/// Evidence     tests/algorithms/flbb79/theorem41_test (FIFO, values; with a number fewer it fails),
///              tests/algorithms/native (stress)

#include <cstdint>
#include <string>

#include "kgate/detail/machine.hpp"

namespace kgate::flbb79 {

/// Aligned to its size: clang would take it for two halves otherwise, and call a library for what is one instruction.
struct alignas(4) numbers {
  std::int16_t next = 0;
  std::int16_t granted = 0;

  friend constexpr bool operator==(numbers, numbers) = default;
};

inline std::string to_string(numbers v) {
  return "next " + std::to_string(v.next) + " granted " + std::to_string(v.granted);
}

template <class M>
class number_lock {
 public:
  using Process = typename M::Process;
  struct Private {
    std::int16_t number = 0;
  };

  number_lock(typename M::Memory& memory, int N, int /*k*/) : N_(N), V(memory, {.name = "V"}, {}) {}

  void acquire(Process& p, Private& mine) {
    mine.number = V.rmw(p["T"], [this](numbers v) { return numbers{after(v.next), v.granted}; }).next;
    p.live(mine);
    p.doorway_end();
    V.await(p["W"], [&](numbers v) { return v.granted == mine.number; });
  }

  void release(Process& p, Private&) {
    V.rmw(p["E"], [this](numbers v) { return numbers{v.next, after(v.granted)}; });
  }

 private:
  std::int16_t after(std::int16_t number) const { return static_cast<std::int16_t>((number + 1) % N_); }

  const int N_;
  typename M::template Var<numbers> V;
};

}  // namespace kgate::flbb79
