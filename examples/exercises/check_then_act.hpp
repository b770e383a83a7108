// SPDX-License-Identifier: Apache-2.0
// Exercise 1: a counter of free permits. Something is wrong: docs/exercises.md.
#pragma once

#include "kgate/detail/machine.hpp"

template <class M>
class check_then_act {
 public:
  using Process = typename M::Process;
  using Private = kgate::nothing_private;
  static constexpr const char* promises = "k-exclusion, deadlock-free, bounded-exit";

  check_then_act(typename M::Memory& memory, int /*N*/, int k) : free_(memory, {.name = "free"}, k) {}

  void acquire(Process& p, Private&) {
    [[maybe_unused]] auto frame = p.frame();
    for (;;) {
      p.live();
      free_.await(p["1"], [](int f) { return f > 0; });
      p.live();
      const int seen = free_.read(p["2"]);
      if (seen <= 0) continue;
      free_.fetch_add(p["3"], -1);
      return;
    }
  }

  void release(Process& p, Private&) {
    [[maybe_unused]] auto frame = p.frame();
    free_.fetch_add(p["4"], 1);
  }

 private:
  typename M::template Var<int> free_;
};
