// SPDX-License-Identifier: Apache-2.0

/// Mistakes in the text of Choi, with what the checker must say to each. Some are made in the machine (a statement left
/// out), the others in copies of the text that the build makes: see CMakeLists.txt.

#include "algorithms/verdicts.hpp"
#include "kgate/algorithms/choi11.hpp"
#include "mutants/no_previous_block.hpp"
#include "mutants/partner_too_far.hpp"
#include "mutants/window_too_early.hpp"

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

/// A window that no leaver is ever in: none is let in.
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
  program stale(make_model<choi11::algorithm<machine, choi11::reading{.window = 0}>>(4, 3), 4, 3, {});
  EXPECT_EQ(validate(t, stale), "");
  program shipped(make_model<choi11::corrected<machine>>(4, 3), 4, 3, {});
  EXPECT_NE(validate(t, shipped), "");
}

}  // namespace
}  // namespace kgate::lab
