// SPDX-License-Identifier: Apache-2.0

/// Mistakes in the texts of Danek, with what the checker must say to each. Some are made in the machine (a
/// statement left out), the others in copies of the texts that the build makes: see CMakeLists.txt.

#include "algorithms/verdicts.hpp"
#include "kgate/algorithms/danek10_figure2.hpp"
#include "kgate/algorithms/danek10_nonatomic.hpp"
#include "mutants/captures_late.hpp"
#include "mutants/looks_in_write_order.hpp"
#include "mutants/no_doorway.hpp"
#include "mutants/no_increment.hpp"
#include "mutants/one_announcement.hpp"
#include "mutants/one_read.hpp"
#include "mutants/ties_pass.hpp"
#include "mutants/ties_wait.hpp"
#include "mutants/wrapping_tickets.hpp"

namespace kgate::lab {
namespace {

using machine = checker_machine;

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
TEST(danek10_mutants, bakery_without_doorway) {
  caught<danek10::no_doorway::bakery<machine>>({"", 2, 1}, "k-exclusion");
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
/// Not a mistake: the write of Want[p][i][1] in line 30 is not needed. One that must not miss p, having a larger ticket
/// than p's, has chosen it while or after p chose, so after line 30: from then on Want[p][i][2] is small and is not
/// written before line 33 has written Want[p][i][1]. And not to write it can only make others wait less.
TEST(danek10_mutants, nonatomic_line_30_needs_the_second_copy_only) {
  for (const trial& size : {trial{"", 2, 1, 3, true}, trial{"", 3, 2, 1, true}, trial{"", 3, 1, 1, true}}) {
    program p(make_model<danek10::one_announcement::nonatomic<machine>>(size.N, size.k, size.registers()), size.N,
              size.k, options_of(size));
    decide(size, p, {"k-exclusion"}, verdict::holds);
  }
  const trial small{"", 2, 1, 3, true};
  program p(make_model<danek10::one_announcement::nonatomic<machine>>(2, 1, small.registers()), 2, 1,
            options_of(small));
  decide(small, p, {"starvation-free", "k-fcfs", "fife"}, verdict::holds);
}
/// Not caught at the sizes within reach: the test spares those that are captured already a second write of what they
/// read.
TEST(danek10_mutants, nonatomic_line_44_dropped_goes_unnoticed) {
  const trial small{.algorithm = "", .N = 2, .k = 1, .passages = 3, .safe = true, .mutations = {"drop:44"}};
  program p(make_model<danek10::nonatomic<machine>>(2, 1, small.registers()), 2, 1, options_of(small));
  decide(small, p, {"k-exclusion", "starvation-free", "k-fcfs", "fife"}, verdict::holds);
}
TEST(danek10_mutants, nonatomic_one_read_is_not_enough) {
  caught<danek10::one_read::nonatomic<machine>>({"", 2, 1, 1, true}, "k-exclusion");
}
TEST(danek10_mutants, nonatomic_looks_in_the_order_of_the_writes) {
  caught<danek10::looks_in_write_order::nonatomic<machine>>({"", 2, 1, 1, true}, "k-exclusion");
}

/// Section 7: tickets are never reset; more complex algorithms do it and are left out. With capture, to set Ticket[p]
/// to 0 in the exit is a mistake if what is left in Capture captures those that start with small tickets again.
TEST(danek10_mutants, tickets_reset_in_the_exit_spoil_capture) {
  caught<danek10::reset<machine>>({.algorithm = "", .N = 2, .k = 1, .passages = 3, .mutations = {"drop:15c"}},
                                  "k-exclusion");
}
/// Without capture it is none: lemma 1 compares tickets of processes in their passages only, and one that has reset its
/// ticket has withdrawn what it announced.
TEST(danek10_mutants, tickets_reset_in_the_exit_without_capture) {
  for (const trial& size : {trial{"", 2, 1, 4}, trial{"", 3, 1, 2}, trial{"", 3, 2, 2}}) {
    program p(make_model<danek10::figure2<machine, false, true>>(size.N, size.k), size.N, size.k, options_of(size));
    decide(size, p, {"k-exclusion", "starvation-free", "bounded-exit", "k-fcfs"}, verdict::holds);
  }
}
/// Section 7 leaves bounded tickets open. To count them modulo a number is not enough, with two processes and without
/// limit: one that has read the tickets and sleeps writes its own when the others have gone around.
TEST(danek10_mutants, tickets_that_wrap) {
  caught<danek10::wrapping_tickets::kfcfs<machine>>({"", 2, 1, 0}, "k-exclusion");
}

}  // namespace
}  // namespace kgate::lab
