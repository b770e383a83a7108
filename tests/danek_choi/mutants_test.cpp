// SPDX-License-Identifier: Apache-2.0

/// Mistakes in the texts of Danek and Choi, with what the checker must say to each. Some are made in the machine (a
/// statement left out), the others in copies of the texts that the build makes: see CMakeLists.txt.

#include "danek_choi/verdicts.hpp"
#include "kgate/algorithms/choi11.hpp"
#include "kgate/algorithms/danek10_figure2.hpp"
#include "kgate/algorithms/danek10_nonatomic.hpp"
#include "mutants/captures_late.hpp"
#include "mutants/looks_in_write_order.hpp"
#include "mutants/no_increment.hpp"
#include "mutants/no_previous_block.hpp"
#include "mutants/no_staleness_test.hpp"
#include "mutants/one_look.hpp"
#include "mutants/partner_too_far.hpp"
#include "mutants/ties_pass.hpp"
#include "mutants/ties_wait.hpp"

namespace kgate::lab {
namespace {

using machine = checker_machine;

/// The mutant breaks the property at this size.
template <class Algorithm>
void caught(const trial& t, const std::string& property) {
  program p(make_model<Algorithm>(t.N, t.k, t.registers()), t.N, t.k, options_of(t));
  decide(t, p, {property}, verdict::violated);
}

TEST(danek10_mutants, line_14_dropped) {
  caught<danek10::kfcfs<machine>>({.algorithm = "", .N = 2, .k = 1, .mutations = {"drop:14"}}, "k-exclusion");
  caught<danek10::fife<machine>>({.algorithm = "", .N = 2, .k = 1, .mutations = {"drop:14"}}, "k-exclusion");
}
TEST(danek10_mutants, line_16_dropped) {
  caught<danek10::kfcfs<machine>>({.algorithm = "", .N = 2, .k = 1, .mutations = {"drop:16"}}, "starvation-free");
}
TEST(danek10_mutants, line_25_dropped) {
  caught<danek10::kfcfs<machine>>({.algorithm = "", .N = 2, .k = 1, .mutations = {"drop:25"}}, "starvation-free");
}
TEST(danek10_mutants, no_increment) { caught<danek10::no_increment::kfcfs<machine>>({"", 2, 1}, "k-exclusion"); }
TEST(danek10_mutants, ties_let_both_pass) { caught<danek10::ties_pass::kfcfs<machine>>({"", 2, 1}, "k-exclusion"); }
TEST(danek10_mutants, ties_make_both_wait) {
  caught<danek10::ties_wait::kfcfs<machine>>({"", 2, 1}, "starvation-free");
}

/// p1 enters without having captured p0, whose two successors stop after announcing themselves.
TEST(danek10_mutants, capture_after_the_critical_section) {
  const trial size{"", 4, 2};
  trace t;
  t.of = size.name();
  t.property = "fife";
  t.schedule = parse_schedule("0x8,1x17,2x2,3x2,0x9,0x5");
  t.loop = 38;
  t.victim = 0;
  program late(make_model<danek10::captures_late::fife<machine>>(4, 2), 4, 2, options_of(size));
  EXPECT_EQ(validate(t, late), "");
  program never(make_model<danek10::fife<machine>>(4, 2), 4, 2, {1, {mutation::parse("drop:23")}});
  EXPECT_EQ(validate(t, never), "");
  program shipped(make_model<danek10::fife<machine>>(4, 2), 4, 2, options_of(size));
  EXPECT_NE(validate(t, shipped), "");
}

TEST(danek10_mutants, nonatomic_lines_30_and_48_dropped) {
  caught<danek10::nonatomic<machine>>(
      {.algorithm = "", .N = 2, .k = 1, .passages = 1, .safe = true, .mutations = {"drop:30"}}, "k-exclusion");
  caught<danek10::nonatomic<machine>>(
      {.algorithm = "", .N = 2, .k = 1, .passages = 1, .safe = true, .mutations = {"drop:48"}}, "starvation-free");
}
/// Not caught at the sizes within reach: the test spares those who are captured already a second write of what they read.
TEST(danek10_mutants, nonatomic_line_44_dropped_goes_unnoticed) {
  const trial small{.algorithm = "", .N = 2, .k = 1, .passages = 3, .safe = true, .mutations = {"drop:44"}};
  program p(make_model<danek10::nonatomic<machine>>(2, 1, small.registers()), 2, 1, options_of(small));
  decide(small, p, {"k-exclusion", "starvation-free", "k-fcfs", "fife"}, verdict::holds);
}
TEST(danek10_mutants, nonatomic_one_look_is_not_enough) {
  caught<danek10::one_look::nonatomic<machine>>({"", 2, 1, 1, true}, "k-exclusion");
}
TEST(danek10_mutants, nonatomic_looks_in_the_order_of_the_writes) {
  caught<danek10::looks_in_write_order::nonatomic<machine>>({"", 2, 1, 1, true}, "k-exclusion");
}

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

}  // namespace
}  // namespace kgate::lab
