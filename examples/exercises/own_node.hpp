// SPDX-License-Identifier: Apache-2.0
// Exercise 5: a queue of nodes; each waits for the node before its own. Something is wrong: docs/exercises.md.
#pragma once

#include "kgate/detail/fixed_array.hpp"
#include "kgate/detail/machine.hpp"

template <class M>
class own_node {
 public:
  using Process = typename M::Process;
  struct Private {
    int mine = 0;
    int before = 0;
  };
  static constexpr const char* promises = "k-exclusion, deadlock-free, starvation-free, bounded-exit";

  own_node(typename M::Memory& memory, int N, int /*k*/)
      : tail_(memory, {.name = "tail"}, N),
        locked_(static_cast<std::size_t>(N) + 1,
                [&](std::size_t i) {
                  return typename M::template Var<bool>(memory, {.name = "locked", .instance = static_cast<int>(i)},
                                                        false);
                }),
        node_(static_cast<std::size_t>(N), [&](std::size_t i) {
          return typename M::template Var<int>(memory, {.name = "node", .home = kgate::pid(static_cast<int>(i))},
                                               static_cast<int>(i));
        }) {}

  void acquire(Process& p, Private& its) {
    its.mine = node_[p.id()].read(p["1"]);
    p.live(its.mine);
    locked_[static_cast<std::size_t>(its.mine)].write(p["2"], true);
    its.before = tail_.exchange(p["3"], its.mine);
    p.live(its.mine, its.before);
    locked_[static_cast<std::size_t>(its.before)].await(p["4"], [](bool locked) { return !locked; });
  }

  void release(Process& p, Private& its) {
    locked_[static_cast<std::size_t>(its.mine)].write(p["5"], false);
    p.live(its.mine, its.before);
    node_[p.id()].write(p["6"], its.mine);
  }

 private:
  typename M::template Var<int> tail_;
  kgate::fixed_array<typename M::template Var<bool>> locked_;
  kgate::fixed_array<typename M::template Var<int>> node_;
};
