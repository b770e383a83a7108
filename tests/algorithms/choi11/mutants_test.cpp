// SPDX-License-Identifier: Apache-2.0

/// Mistakes in the text of Choi, with what the checker must say to each. Some are made in the machine (a statement left
/// out), the others in copies of the text that the build makes: see CMakeLists.txt.

#include "algorithms/verdicts.hpp"
#include "kgate/algorithms/choi11.hpp"
#include "lab/checker/model/walker.hpp"
#include "mutants/no_previous_block.hpp"
#include "mutants/no_staleness_test.hpp"
#include "mutants/partner_too_far.hpp"
#include "mutants/window_too_early.hpp"
#include "mutants/wrapping_rounds.hpp"

namespace kgate::lab {
namespace {

using machine = checker_machine;

TEST(choi11_mutants, partner_one_ticket_too_far) {
  caught<choi11::partner_too_far::corrected<machine>>({"", 3, 2, 2}, "k-exclusion");
}
TEST(choi11_mutants, no_update_at_all) {
  caught<choi11::corrected<machine>>({.algorithm = "", .N = 3, .k = 2, .mutations = {"drop:5.9", "drop:6.9"}},
                                     "starvation-free");
}
TEST(choi11_mutants, no_update_of_the_block_before) {
  caught<choi11::no_previous_block::corrected<machine>>({"", 3, 2, 2}, "starvation-free");
  caught<choi11::no_previous_block::corrected<machine>>({"", 3, 2, 2}, "fife");
}

/// A window that no leaver is ever in: nobody is let in.
TEST(choi11_mutants, a_window_before_the_leaver) {
  caught<choi11::window_too_early::compact<machine>>({"", 3, 2, 1}, "starvation-free");
}

/// The leaver for ticket 3 stalls; the next one lets ticket 4 in before it comes to the block before.
TEST(choi11_mutants, descending_updates) {
  const trial size{"", 4, 2, 2};
  trace t;
  t.of = size.name();
  t.property = "fife";
  t.schedule = parse_schedule("0x2,1x2,2,3,0x7,2,1,0,2x4,0,3");
  t.loop = 21;
  t.victim = 3;
  program descending(make_model<choi11::descending<machine>>(4, 2), 4, 2, options_of(size));
  EXPECT_EQ(validate(t, descending), "");
  program shipped(make_model<choi11::corrected<machine>>(4, 2), 4, 2, options_of(size));
  EXPECT_NE(validate(t, shipped), "");
}

/// Found by the random search after 167,748 walks, and shortened.
TEST(choi11_mutants, no_test_for_stale_leavers) {
  const trial size{"", 4, 3, 0};
  trace t;
  t.of = size.name();
  t.property = "starvation-free";
  t.schedule = parse_schedule("1x3,0x10,3x4,2x5,1x9,0x5,2x6,3x3,2x3,3x47,0x8,3x8,2x68,0x21,1x6,3x2,0x2,3x6,2x3,0,2x2");
  t.loop = 220;
  t.victim = 2;
  t.crashed = {1, 3};
  program stale(make_model<choi11::no_staleness_test::corrected<machine>>(4, 3), 4, 3, {});
  EXPECT_EQ(validate(t, stale), "");
  program shipped(make_model<choi11::corrected<machine>>(4, 3), 4, 3, {});
  EXPECT_NE(validate(t, shipped), "");
}

/// Process 0 draws the first ticket, is let in at once, and sleeps while process 1 passes again and again. After how
/// many passages does process 0, the only one outside its remainder, find itself shut out?
template <class Algorithm>
int shut_out_after(int passages_max) {
  program p(make_model<Algorithm>(3, 2), 3, 2, {passages_max + 1, {}});
  walker run(p);
  run.step(0);
  for (int passages = 1; passages <= passages_max; ++passages) {
    do run.step(1);
    while (run.outside(1));
    walker alone = run;
    for (int i = 0; i < 20 && alone.can_move(0) && alone.local(0).where == region::entry; ++i) alone.step(0);
    if (alone.local(0).where == region::entry) return passages;
  }
  return 0;
}
/// Section 4 calls it straightforward to bound the variables. With rounds that wrap, one that was let in and sleeps
/// sees them go by until they look like earlier ones: here four rounds, compared around the circle. No number of them
/// is enough for all sleepers.
TEST(choi11_mutants, rounds_that_wrap_shut_out_a_sleeper_that_was_let_in) {
  EXPECT_EQ(shut_out_after<choi11::corrected<machine>>(60), 0);
  EXPECT_GT(shut_out_after<choi11::wrapping_rounds::corrected<machine>>(60), 0);
}

}  // namespace
}  // namespace kgate::lab
