// SPDX-License-Identifier: Apache-2.0
// "For all" in any order, as a choice of the checker: an algorithm that is right in ascending order only is found
// wrong, and Danek's are right in every order.

#include "kgate/detail/forall.hpp"

#include <gtest/gtest.h>

#include "algorithms/verdicts.hpp"
#include "kgate/algorithms/danek10_figure1.hpp"
#include "kgate/algorithms/danek10_figure2.hpp"
#include "kgate/detail/fixed_array.hpp"

namespace kgate::lab {
namespace {

using machine = checker_machine;

/// Every process takes both locks: without deadlock only if all take them in the same order.
template <class M, class Order>
class two_locks {
 public:
  using Process = typename M::Process;
  using Private = nothing_private;

  two_locks(typename M::Memory& memory, int /*N*/, int /*k*/)
      : taken(2,
              [&](std::size_t i) {
                return
                    typename M::template Var<bool>(memory, {.name = "taken", .instance = static_cast<int>(i)}, false);
              }),
        order(memory, 2) {}

  void acquire(Process& p, Private&) {
    [[maybe_unused]] auto frame = p.frame();
    for (auto turn = order.first(p, 3); turn.more(); turn = order.next(p, turn)) {
      auto& lock = taken[static_cast<std::size_t>(turn.member())];
      do {
        p.live(turn);
        lock.await(p["1"], [](bool is) { return !is; });
      } while (lock.test_and_set(p["2"]));
    }
  }
  void release(Process& p, Private&) {
    taken[0].write(p["3"], false);
    taken[1].write(p["4"], false);
  }

 private:
  fixed_array<typename M::template Var<bool>> taken;
  forall<Order> order;
};

template <class Algorithm>
check_result judged(const trial& t, const std::vector<std::string>& properties, verdict expected) {
  program p(make_model<Algorithm>(t.N, t.k), t.N, t.k, options_of(t));
  return decide(t, p, properties, expected);
}

TEST(Forall, WhatIsRightInAscendingOrderOnlyIsFound) {
  judged<two_locks<machine, ascending>>({"two locks", 2, 1, 0}, {"k-exclusion", "deadlock-free"}, verdict::holds);
  judged<two_locks<machine, every_order<machine>>>({"two locks", 2, 1, 0}, {"k-exclusion"}, verdict::holds);
  judged<two_locks<machine, every_order<machine>>>({"two locks", 2, 1, 0}, {"deadlock-free"}, verdict::violated);
}

TEST(Forall, TheBakeryIsRightInEveryOrder) {
  judged<danek10::bakery_in_order<machine, every_order<machine>>>(
      {"bakery", 3, 1, 1}, {"k-exclusion", "deadlock-free", "starvation-free", "k-fcfs", "fife"}, verdict::holds);
}

TEST(Forall, TheKBakeryIsRightInEveryOrder) {
  judged<danek10::figure2<machine, true, false, every_order<machine>>>(
      {"figure 2", 2, 1, 2}, {"k-exclusion", "starvation-free", "k-fcfs", "fife"}, verdict::holds);
  judged<danek10::figure2<machine, false, false, every_order<machine>>>(
      {"figure 2", 3, 2, 1}, {"k-exclusion", "starvation-free", "k-fcfs"}, verdict::holds);
}

/// What `check --forall any` explores of the catalogue: every order, all the same whether the text or the memory asks.
TEST(Forall, TheCheckersMemoryChooses) {
  const trial t{"danek10-bakery", 3, 1, 1};
  program p(make_model(find_algorithm(t.algorithm), t.N, t.k, {.any_order = true}), t.N, t.k, options_of(t));
  const auto chosen = decide(t, p, {"k-exclusion", "fife"}, verdict::holds);
  const auto every =
      judged<danek10::bakery_in_order<machine, every_order<machine>>>(t, {"k-exclusion"}, verdict::holds);
  EXPECT_EQ(chosen.states, every.states);
  EXPECT_EQ(chosen.transitions, every.transitions);
}

TEST(Forall, EveryOrderMeansMoreStates) {
  const trial t{"bakery", 3, 1, 1};
  const auto one = judged<danek10::bakery_in_order<machine, ascending>>(t, {"k-exclusion"}, verdict::holds);
  const auto every =
      judged<danek10::bakery_in_order<machine, every_order<machine>>>(t, {"k-exclusion"}, verdict::holds);
  EXPECT_GT(every.states, one.states);
}

}  // namespace
}  // namespace kgate::lab
