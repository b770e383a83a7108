// SPDX-License-Identifier: Apache-2.0
// Exercise 4: one permit too few for k+1 processes; one that finds none waits for a signal. Something is wrong:
// docs/exercises.md.
#pragma once

#include "kgate/detail/machine.hpp"

template <class M>
class missed_signal {
 public:
  using Process = typename M::Process;
  using Private = kgate::nothing_private;
  static constexpr const char* promises = "k-exclusion, deadlock-free, starvation-free, bounded-exit";

  missed_signal(typename M::Memory& memory, int /*N*/, int k)
      : free_(memory, {.name = "free"}, k), waits_(memory, {.name = "waits"}, kgate::pid(0)) {}

  void acquire(Process& p, Private&) {
    [[maybe_unused]] auto frame = p.frame();
    if (free_.fetch_add(p["1"], -1) > 0) return;
    p.live();
    waits_.write(p["2"], p.id());
    p.live();
    waits_.await(p["3"], [&](kgate::process_id who) { return who != p.id(); });
  }

  void release(Process& p, Private&) {
    [[maybe_unused]] auto frame = p.frame();
    free_.fetch_add(p["4"], 1);
    p.live();
    waits_.write(p["5"], p.id());
  }

 private:
  typename M::template Var<int> free_;
  typename M::template Var<kgate::process_id> waits_;
};
