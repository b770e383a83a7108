// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The checker's machine with the kernel's way to sleep: one that sleeps on a word goes on when another wakes it, and
/// not because the word has changed. There are no time-outs, so a wake-up that is lost, or that wakes the wrong one,
/// leaves a process asleep for ever.

#include <cstdint>

#include "lab/checker/model/machine.hpp"

namespace kgate::lab {

/// A word and those that sleep on it, first come first: one variable, since the kernel compares the word and queues the
/// sleeper in one step.
class futex_word {
 public:
  using Process = checker_machine::Process;
  using cell = std::uint32_t;

  futex_word(checker_machine::Memory& memory, variable description, cell initial)
      : all_(memory, description, initial) {}

  cell read(Process& p) { return all_.rmw_seeing(p, unchanged, value); }
  template <class F>
  cell rmw(Process& p, F f) {
    return all_.rmw_seeing(
        p, [f](both v) { return make(f(value(v)), sleepers(v)); }, value);
  }
  void sleep(Process& p, cell while_it_is) {
    const int me = p.id().value + 1;
    const bool asleep = all_.rmw_seeing(
        p, [=](both v) { return value(v) == while_it_is ? make(value(v), with_last(sleepers(v), me)) : v; },
        [=](both old) { return value(old) == while_it_is; });
    if (asleep) all_.await(p, [me](both v) { return !contains(sleepers(v), me); });
  }
  void wake(Process& p) {
    all_.rmw_seeing(
        p, [](both v) { return make(value(v), sleepers(v) >> queue_digit); }, [](both) { return false; });
  }

 private:
  using both = std::uint64_t;
  using queue = std::uint32_t;  ///< a digit for each sleeper, the first to the right
  static constexpr int queue_digit = 4;

  static both unchanged(both v) { return v; }
  static cell value(both v) { return static_cast<cell>(v); }
  static queue sleepers(both v) { return static_cast<queue>(v >> 32); }
  static both make(cell c, queue q) { return (both{q} << 32) | c; }
  static queue with_last(queue q, int who) {
    int at = 0;
    while ((q >> at) != 0) at += queue_digit;
    return q | (static_cast<queue>(who) << at);
  }
  static bool contains(queue q, int who) {
    for (; q != 0; q >>= queue_digit)
      if ((q & 15) == static_cast<queue>(who)) return true;
    return false;
  }

  checker_machine::Var<both> all_;
};

}  // namespace kgate::lab
