// SPDX-License-Identifier: Apache-2.0

/// Section 4 calls it straightforward to bound the variables. Rounds that wrap are wrong in two ways, and right as far
/// as sleeps are bounded (D8 of choi11.hpp).

#include "algorithms/verdicts.hpp"
#include "kgate/algorithms/choi11.hpp"
#include "lab/checker/model/walker.hpp"

namespace kgate::lab {
namespace {

using machine = checker_machine;
using choi11::algorithm;
using choi11::reading;
constexpr reading wrapping{.window = 0, .rounds = 4};

void enter(walker& run, int p) {
  do run.step(p);
  while (run.local(p).where == region::entry);
}
void leave(walker& run, int p) {
  while (run.outside(p)) run.step(p);
}
void pass(walker& run, int p) {
  enter(run, p);
  leave(run, p);
}
/// Whether p, alone, gets inside.
bool gets_inside(walker run, int p) {
  for (int i = 0; i < 20 && run.can_move(p) && run.local(p).where != region::critical; ++i) run.step(p);
  return run.local(p).where == region::critical;
}

/// Process 0 draws the first ticket, is let in at once, and sleeps while process 1 passes again and again. After how
/// many passages does process 0, the only one outside its remainder, find itself shut out?
template <reading How>
int shut_out_after(int passages_max) {
  program p(make_model<algorithm<machine, How>>(3, 2), 3, 2, {passages_max + 1, {}});
  walker run(p);
  run.step(0);
  for (int passages = 1; passages <= passages_max; ++passages) {
    pass(run, 1);
    if (!gets_inside(run, 0)) return passages;
  }
  return 0;
}
/// One that was let in sees rounds go by until they look like earlier ones. No number of rounds is enough for all
/// sleepers: with twice as many it takes twice as long.
TEST(choi11_bounded, rounds_that_wrap_shut_out_a_sleeper_that_was_let_in) {
  EXPECT_EQ(shut_out_after<reading{}>(150), 0);
  const int four = shut_out_after<reading{.rounds = 4}>(150), eight = shut_out_after<reading{.rounds = 8}>(150),
            sixteen = shut_out_after<reading{.rounds = 16}>(150);
  EXPECT_GT(four, 0);
  EXPECT_EQ(eight - four, 6 * 2) << "N tickets for each further round before half of them";
  EXPECT_EQ(sixteen - eight, 6 * 4);
  EXPECT_GT(shut_out_after<wrapping>(150), 0) << "longer sleeps than it is made for";
}

/// None sleeps for long, and slot 1 of block 0 is not written in any round: its leaver always sleeps just until line 8
/// tells it not to write. None needs that slot, as slot 2 is written; but three rounds later it looks written too.
template <reading How>
bool lets_in_a_fourth() {
  constexpr int n = 4, k = 3, N = 9;
  program p(make_model<algorithm<machine, How>>(n, k), n, k, {100, {}});
  walker run(p);
  int sleeper = -1, until = 0;
  for (int left = 0; left < 2 * N + 7; ++left) {
    if (left % N != 7) {
      pass(run, 0);
    } else {
      sleeper = left / N % 2 == 0 ? 1 : 2;
      enter(run, sleeper);
      run.step(sleeper);  // line 3: its partner's ticket is left + 3, slot 1 of block 0
      until = left + k + How.window * k + 1;
    }
    if (sleeper >= 0 && left + 1 == until) leave(run, sleeper), sleeper = -1;
  }
  EXPECT_EQ(sleeper, -1);
  for (int inside = 0; inside < k; ++inside) enter(run, inside);
  return gets_inside(run, 3);
}
TEST(choi11_bounded, slots_that_lag_come_to_seem_let_in) {
  EXPECT_FALSE((lets_in_a_fourth<reading{.window = 1}>()));
  EXPECT_TRUE((lets_in_a_fourth<reading{.window = 1, .rounds = 4}>()));
}

/// A leaver sleeps before it writes slot 2, until that slot has gone around the circle and looks as it did: its write
/// then lets in the next round too.
template <reading How>
bool lets_in_a_third() {
  program p(make_model<algorithm<machine, How>>(4, 2), 4, 2, {100, {}});
  walker run(p);
  enter(run, 1);
  for (walker ahead = run; ahead.step(1).label != "5.9"; run.step(1)) {
  }
  for (int left = 1; left < 4 * 6; ++left) pass(run, 0);
  run.step(1);
  enter(run, 0);
  enter(run, 2);
  return gets_inside(run, 3);
}
TEST(choi11_bounded, a_write_that_is_four_rounds_old_lets_in_too_many) {
  EXPECT_FALSE((lets_in_a_third<reading{.window = 0}>()));
  EXPECT_TRUE((lets_in_a_third<wrapping>()));
}

/// One that is outside its remainder while fewer than N - k others leave is safe. With two passages of each of three
/// none sees more than four others leave: all runs, begun where tickets and rounds are about to wrap.
template <unsigned First>
void expect_to_wrap_unharmed() {
  const trial size{"", 3, 2, 2};
  program p(make_model<algorithm<machine, reading{.blocks_min = 4, .window = 0, .rounds = 4, .first = First}>>(3, 2), 3,
            2, options_of(size));
  decide(size, p, {"k-exclusion", "starvation-free", "bounded-exit", "fife"}, verdict::holds);
}
TEST(choi11_bounded, wraps_unharmed_while_sleeps_are_short_N3k2_two_passages) {
  expect_to_wrap_unharmed<4 * 8 - 1>();
  expect_to_wrap_unharmed<4 * 8 - 4>();
  expect_to_wrap_unharmed<8 - 3>();
}

}  // namespace
}  // namespace kgate::lab
