// SPDX-License-Identifier: Apache-2.0
// Exercise 2: two processes, a flag each, and a turn. Something is wrong: docs/exercises.md.
#pragma once

#include "kgate/detail/fixed_array.hpp"
#include "kgate/detail/machine.hpp"

template <class M>
class late_flag {
 public:
  using Process = typename M::Process;
  using Private = kgate::nothing_private;
  static constexpr const char* promises = "k-exclusion, deadlock-free, starvation-free, bounded-exit";

  late_flag(typename M::Memory& memory, int /*N*/, int /*k*/)
      : flag_(2,
              [&](std::size_t i) {
                return typename M::template Var<bool>(memory, {.name = "flag", .home = kgate::pid(static_cast<int>(i))},
                                                      false);
              }),
        turn_(memory, {.name = "turn"}, kgate::pid(0)) {}

  void acquire(Process& p, Private&) {
    [[maybe_unused]] auto frame = p.frame();
    turn_.write(p["1"], other(p));
    flag_[p.id()].write(p["2"], true);
    for (;;) {
      p.live();
      if (!flag_[other(p)].read(p["3"])) return;
      if (turn_.read(p["4"]) == p.id()) return;
      p.pause();
    }
  }

  void release(Process& p, Private&) {
    [[maybe_unused]] auto frame = p.frame();
    flag_[p.id()].write(p["5"], false);
  }

 private:
  static kgate::process_id other(const Process& p) { return kgate::pid(1 - p.id().value); }

  kgate::fixed_array<typename M::template Var<bool>> flag_;
  typename M::template Var<kgate::process_id> turn_;
};
