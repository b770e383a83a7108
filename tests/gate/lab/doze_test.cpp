// SPDX-License-Identifier: Apache-2.0
/// Waiters that doze (gate_doze.hpp) before they watch another, over all schedules. Without time-outs: one that is to
/// be woken is, or it would be stuck. With time-outs at any moment and with deaths: nothing is lost.
#include "gate/lab/doze_scripts.hpp"
#include "mutants/bell_after_check.hpp"
#include "mutants/blind_watch.hpp"
#include "mutants/heals_once.hpp"
#include "mutants/heals_without_granting.hpp"
#include "mutants/one_check_of_word.hpp"
#include "mutants/silent_end.hpp"
#include "mutants/waits_for_a_bell.hpp"

namespace kgate::lab {
namespace {

void holds(const script_verdict& seen) { EXPECT_TRUE(seen.holds) << seen.text; }
void caught(const script_verdict& seen) { EXPECT_TRUE(seen.violated) << seen.text; }

TEST(gate_doze, is_ended_by_a_grant) { holds(explore(each_of_two("b", 2), dozes::for_ever)); }
TEST(gate_doze, is_ended_by_the_end_of_one_inside) { holds(explore(each_of_two("s"), dozes::for_ever)); }
TEST(gate_doze, is_ended_by_each_end_in_turn) { holds(explore(three('s', 3), dozes::for_ever)); }
/// The third takes over the number of the one that has ended.
TEST(gate_doze, is_ended_where_numbers_are_taken_over) { holds(explore(three('s', 2, 2), dozes::for_ever)); }
TEST(gate_doze, for_a_time_loses_nothing) {
  holds(explore(each_of_two("abes"), dozes::for_a_time, 2));
  holds(explore(each_of_two("bhs"), dozes::for_a_time, 1));
}
TEST(gate_doze, is_ended_where_newcomers_may_pass) { holds(explore(each_of_two_that_pass("b"), dozes::for_ever)); }
/// It does so once, though the others in the queue are dead, too, or none is left to give the grant that is due.
TEST(gate_doze, is_ended_when_the_last_one_alive_heals_the_dead) {
  holds(explore(left_alone_after("bttb"), dozes::once_alone));
  holds(explore(left_alone_after("btb"), dozes::once_alone, 1));
}

TEST(gate_doze_mutants, the_bell_is_set_after_the_check) {
  caught(explore<detail::gates::bell_after_check::dozing>(each_of_two("b"), dozes::for_ever));
}
TEST(gate_doze_mutants, one_that_will_end_tells_nobody) {
  caught(explore<detail::gates::silent_end::dozing>(each_of_two("s"), dozes::for_ever));
}
TEST(gate_doze_mutants, a_head_that_waits_for_its_bell_alone) {
  caught(explore<detail::gates::waits_for_a_bell::dozing>(each_of_two("s"), dozes::for_ever));
}
TEST(gate_doze_mutants, a_head_that_watches_who_has_the_number_now) {
  caught(explore<detail::gates::blind_watch::dozing>(three('s', 2, 2), dozes::for_ever));
}
TEST(gate_doze_mutants, a_head_that_does_not_read_the_word_again) {
  caught(explore<detail::gates::one_check_of_word::dozing>(three('s', 2, 2), dozes::for_ever));
}
TEST(gate_doze_mutants, one_that_looks_for_dead_holders_only_once) {
  caught(explore<detail::gates::heals_once::dozing>(left_alone_after("bttb"), dozes::once_alone));
}
TEST(gate_doze_mutants, one_that_does_not_grant_what_is_due) {
  caught(explore<detail::gates::heals_without_granting::dozing>(left_alone_after("btb"), dozes::once_alone, 1));
}

}  // namespace
}  // namespace kgate::lab
