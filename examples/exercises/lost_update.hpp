// SPDX-License-Identifier: Apache-2.0
// Exercise 3: tickets, of which k are served at a time. Something is wrong: docs/exercises.md.
#pragma once

#include "kgate/detail/machine.hpp"

template <class M>
class lost_update {
 public:
  using Process = typename M::Process;
  using Private = kgate::nothing_private;
  static constexpr const char* promises = "k-exclusion, deadlock-free, starvation-free, bounded-exit, k-fcfs";
  static constexpr bool unbounded_variables = true;

  lost_update(typename M::Memory& memory, int /*N*/, int k)
      : next_(memory, {.name = "next"}, 0), left_(memory, {.name = "left"}, 0), k_(k) {}

  void acquire(Process& p, Private&) {
    [[maybe_unused]] auto frame = p.frame();
    const int mine = next_.fetch_add(p["1"], 1);
    p.doorway_end();
    p.live(mine);
    left_.await(p["2"], [&](int left) { return mine < left + k_; });
  }

  void release(Process& p, Private&) {
    [[maybe_unused]] auto frame = p.frame();
    const int left = left_.read(p["3"]);
    p.live(left);
    left_.write(p["4"], left + 1);
  }

 private:
  typename M::template Var<int> next_, left_;
  const int k_;
};
