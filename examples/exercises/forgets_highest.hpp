// SPDX-License-Identifier: Apache-2.0
// Exercise 6: each takes a number higher than those it sees. Here the algorithm is right, and what the checker is given
// of it is wrong: docs/exercises.md.
#pragma once

#include <algorithm>
#include <utility>

#include "kgate/detail/fixed_array.hpp"
#include "kgate/detail/machine.hpp"

template <class M>
class forgets_highest {
 public:
  using Process = typename M::Process;
  using Private = kgate::nothing_private;
  static constexpr const char* promises = "k-exclusion, bounded-exit";
  static constexpr bool unbounded_variables = true;

  forgets_highest(typename M::Memory& memory, int N, int /*k*/)
      : choosing_(array<bool>(memory, "choosing", N, false)), number_(array<int>(memory, "number", N, 0)), N_(N) {}

  void acquire(Process& p, Private&) {
    [[maybe_unused]] auto frame = p.frame();
    choosing_[p.id()].write(p["1"], true);
    int highest = 0;
    for (int q = 0; q < N_; ++q) {
      p.live(q);
      highest = std::max(highest, number_[kgate::pid(q)].read(p["2"]));
    }
    const int mine = highest + 1;
    p.live(mine);
    number_[p.id()].write(p["3"], mine);
    choosing_[p.id()].write(p["4"], false);
    for (int q = 0; q < N_; ++q) {
      if (kgate::pid(q) == p.id()) continue;
      p.live(q, mine);
      choosing_[kgate::pid(q)].await(p["5"], [](bool chooses) { return !chooses; });
      p.live(q, mine);
      number_[kgate::pid(q)].await(p["6"], [&](int its) {
        return its == 0 || std::pair(mine, static_cast<int>(p.id().value)) < std::pair(its, q);
      });
    }
  }

  void release(Process& p, Private&) {
    [[maybe_unused]] auto frame = p.frame();
    number_[p.id()].write(p["7"], 0);
  }

 private:
  template <class T>
  using variables = kgate::fixed_array<typename M::template Var<T>>;

  template <class T>
  static variables<T> array(typename M::Memory& memory, const char* name, int N, T initial) {
    return variables<T>(static_cast<std::size_t>(N), [&, name](std::size_t i) {
      return typename M::template Var<T>(memory, {.name = name, .home = kgate::pid(static_cast<int>(i))}, initial);
    });
  }

  variables<bool> choosing_;
  variables<int> number_;
  const int N_;
};
