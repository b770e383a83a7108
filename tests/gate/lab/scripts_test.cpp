// SPDX-License-Identifier: Apache-2.0
/// Every script of so many operations of each process, with deaths at every step, over all schedules: at most k inside
/// (with the rule of resizing), no permit and no position lost, the queue in order, slots distinct, sizes as set, every
/// waiter served.
#include "gate/lab/scripts.hpp"

#include <array>

#include "kgate/detail/machines/native.hpp"
#include "mutants/callers_left.hpp"
#include "mutants/dead_stay.hpp"
#include "mutants/heavy_head.hpp"
#include "mutants/last_first.hpp"
#include "mutants/late_link.hpp"
#include "mutants/late_relink.hpp"
#include "mutants/living_seem_dead.hpp"
#include "mutants/no_grant_by_waiters.hpp"
#include "mutants/nobody_helps.hpp"
#include "mutants/number_not_healed.hpp"
#include "mutants/passes_the_queue.hpp"
#include "mutants/queue_first.hpp"
#include "mutants/queued_twice.hpp"
#include "mutants/served_too_soon.hpp"
#include "mutants/short_and_blind.hpp"
#include "mutants/short_and_deaf.hpp"
#include "mutants/short_and_rude.hpp"
#include "mutants/size_by_value.hpp"
#include "mutants/sleeps_at_once.hpp"
#include "mutants/watches_a_stranger.hpp"

namespace kgate::lab {
namespace {

template <class Cells>
using shipped = detail::gates::protocol<Cells>;

void holds(const gate_scripts& what, int deaths) {
  const script_verdict seen = explore_scripts<shipped>(what, deaths);
  EXPECT_TRUE(seen.holds) << seen.text;
  testing::Test::RecordProperty("states", std::to_string(seen.states));
  std::printf("%llu states\n", static_cast<unsigned long long>(seen.states));
}

TEST(gate_scripts, one_operation_of_any_kind_each_with_any_deaths_k1) {
  holds({.processes = 2, .members = 2, .k = 1, .acts = 1, .among = acts("abcdefghijkl")}, 2);
}
TEST(gate_scripts, one_operation_of_any_kind_each_with_any_deaths_k2) {
  holds({.processes = 2, .members = 2, .k = 2, .acts = 1, .among = acts("abcdefghijkl")}, 2);
}
TEST(gate_scripts, two_passages_each_with_a_death) {
  holds({.processes = 2, .members = 2, .k = 1, .acts = 2, .among = acts("b")}, 1);
}
TEST(gate_scripts, two_of_entering_and_resizing_each) {
  holds({.processes = 2, .members = 2, .k = 1, .acts = 2, .among = acts("bh")}, 0);
}
TEST(gate_scripts, a_third_process_takes_over_the_number_of_a_dead_one) {
  holds({.processes = 3, .members = 2, .k = 1, .acts = 1, .among = acts("b")}, 1);
}
TEST(gate_scripts, pausing_and_resuming) {  // without deaths: a gate whose pauser died stays paused
  holds({.processes = 2, .members = 2, .k = 1, .acts = 1, .among = acts("abm")}, 0);
}
TEST(gate_scripts, a_waiter_dismissed) {
  holds({.processes = 2, .members = 2, .k = 1, .acts = 2, .among = acts("bn")}, 0);
}
TEST(gate_scripts, short_paths) {
  holds({.processes = 2, .members = 2, .k = 1, .acts = 2, .short_paths = true, .among = acts("b")}, 0);
  holds({.processes = 2, .members = 2, .k = 2, .acts = 2, .short_paths = true, .among = acts("b")}, 1);
}
TEST(gate_scripts, short_paths_and_resizing) {
  holds({.processes = 2, .members = 2, .k = 1, .acts = 2, .short_paths = true, .among = acts("bh")}, 0);
}
TEST(gate_scripts, newcomers_may_pass_the_queue) {
  holds({.processes = 2, .members = 2, .k = 1, .acts = 1, .overtakings = 1, .among = acts("be")}, 2);
}

/// The order counts from the call (G12): of two processes one passes the other at most once, in flight, after it has
/// called.
gate_scripts one_may_pass(bool short_paths) {
  return {.processes = 2,
          .members = 2,
          .k = 1,
          .acts = 3,
          .acts_of_first = 1,
          .short_paths = short_paths,
          .calls_most = 2,
          .passed_most = 1,
          .among = acts("b")};
}

TEST(gate_scripts, order_from_the_call) { holds(one_may_pass(false), 0); }
TEST(gate_scripts, order_from_the_call_with_short_paths) { holds(one_may_pass(true), 0); }
TEST(gate_scripts, callers_are_queued_by_others_with_any_deaths) {
  holds({.processes = 2, .members = 2, .k = 1, .acts = 1, .calls_most = 2, .among = acts("abde")}, 2);
}
TEST(gate_mutants, callers_are_left_alone) {
  const script_verdict seen = explore_scripts<detail::gates::callers_left::protocol>(one_may_pass(false), 0);
  EXPECT_TRUE(seen.violated) << seen.text;
}
TEST(gate_mutants, a_caller_is_taken_for_served) {
  const script_verdict seen = explore_scripts<detail::gates::served_too_soon::protocol>(one_may_pass(false), 0);
  EXPECT_TRUE(seen.violated) << seen.text;
}
TEST(gate_mutants, a_short_path_that_does_not_check_for_callers) {
  const script_verdict seen = explore_scripts<shipped, detail::gates::short_and_deaf::short_path>({.processes = 2,
                                                                                                   .members = 2,
                                                                                                   .k = 1,
                                                                                                   .acts = 3,
                                                                                                   .short_paths = true,
                                                                                                   .calls_most = 2,
                                                                                                   .passed_most = 1,
                                                                                                   .among = acts("b")},
                                                                                                  0);
  EXPECT_TRUE(seen.violated) << seen.text;
}
TEST(gate_mutants, a_caller_that_was_queued_queues_again) {
  const script_verdict seen = explore_scripts<detail::gates::queued_twice::protocol>(
      {.processes = 2, .members = 2, .k = 1, .acts = 2, .calls_most = 2, .among = acts("b")}, 0);
  EXPECT_TRUE(seen.violated) << seen.text;
}

/// Where the scenes of directed_scripts_test.cpp begin is where the text itself gets, if processes come one after the
/// other and each calls before the next one does: the first is inside, the others are queued and about to wait.
TEST(gate_arrival, is_reached_by_processes_that_come_one_after_the_other) {
  using namespace detail::gates;
  using machine = native<spin>;
  const std::array<int, kernel_part::members_max> all_light{1, 1, 1}, one_heavy{1, 2, 1};
  for (const auto& weights : {all_light, one_heavy})
    for (unsigned arrived = 1; arrived <= 3; ++arrived) {
      machine::Memory memory;
      machine_cells<machine> reached(memory, 3, 2, 1, 3);
      machine_cells<machine> by_hand(memory, 3, 2, 1, 3, 0, 0, arrival{weights, arrived});
      for (unsigned i = 0; i < arrived; ++i) {
        machine::Process p(process_id{static_cast<std::uint16_t>(i)});
        const std::uint64_t nothing = 0;
        cells_of<machine, std::uint64_t> c(reached, p, nothing);
        protocol gate(c);
        const state mine = state{}.with_weight(weights[i]);
        word became{};
        EXPECT_EQ(gate.request(i, mine, gate.call(i, mine), became), i == 0 ? outcome::entered : outcome::queued);
      }
      machine::Process p(process_id{0});
      EXPECT_EQ(to_string(reached.W.read(p)), to_string(by_hand.W.read(p)));
      EXPECT_EQ(reached.K.read(p), by_hand.K.read(p));
      EXPECT_EQ(reached.kernel.read(p), by_hand.kernel.read(p));
      EXPECT_EQ(to_string(reached.Q.read(p)), to_string(by_hand.Q.read(p)));
      EXPECT_EQ(reached.passed.read(p), by_hand.passed.read(p));
      EXPECT_EQ(reached.calls.read(p), by_hand.calls.read(p));
      for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(to_string(reached.states[i].read(p)), to_string(by_hand.states[i].read(p))) << i;
        EXPECT_EQ(to_string(reached.links[i].read(p)), to_string(by_hand.links[i].read(p))) << i;
      }
      for (std::size_t j = 0; j < 2; ++j) EXPECT_EQ(reached.slots[j].read(p), by_hand.slots[j].read(p));
    }
}

/// A short path that does not look whether the last operation's effect has been applied (G2).
TEST(gate_mutants, a_short_path_that_does_not_check_its_predecessor) {
  const script_verdict seen = explore_scripts<shipped, detail::gates::short_and_blind::short_path>(
      {.processes = 2, .members = 2, .k = 2, .acts = 2, .short_paths = true, .among = acts("bf")}, 1);
  EXPECT_TRUE(seen.violated) << seen.text;
}
/// A short path that passes the queue.
TEST(gate_mutants, a_short_path_past_those_who_wait) {
  const script_verdict seen = explore_scripts<shipped, detail::gates::short_and_rude::short_path>(
      {.processes = 3, .members = 3, .k = 1, .acts = 2, .short_paths = true, .among = acts("b")}, 0);
  EXPECT_TRUE(seen.violated) << seen.text;
}

template <template <class> class Mutant>
void caught(const gate_scripts& what, int deaths) {
  const script_verdict seen = explore_scripts<Mutant>(what, deaths);
  EXPECT_TRUE(seen.violated) << seen.text;
}

TEST(gate_mutants, a_size_recognised_by_its_value) {
  caught<detail::gates::size_by_value::protocol>(
      {.processes = 2, .members = 2, .k = 2, .acts = 2, .among = acts("abh")}, 0);
}
TEST(gate_mutants, a_head_heavier_than_the_gate) {
  caught<detail::gates::heavy_head::protocol>({.processes = 2, .members = 2, .k = 1, .acts = 1, .among = acts("abc")},
                                              0);
}
TEST(gate_mutants, nobody_helps) {
  caught<detail::gates::nobody_helps::protocol>({.processes = 2, .members = 2, .k = 1, .acts = 1, .among = acts("ab")},
                                                0);
}
TEST(gate_mutants, the_living_are_healed) {
  caught<detail::gates::living_seem_dead::protocol>(
      {.processes = 2, .members = 2, .k = 1, .acts = 1, .among = acts("ab")}, 0);
}
TEST(gate_mutants, the_dead_are_not_healed) {
  caught<detail::gates::dead_stay::protocol>({.processes = 2, .members = 2, .k = 1, .acts = 1, .among = acts("ab")}, 1);
}
TEST(gate_mutants, a_number_is_taken_over_unhealed) {
  caught<detail::gates::number_not_healed::protocol>(
      {.processes = 3, .members = 2, .k = 1, .acts = 1, .among = acts("b")}, 1);
}
TEST(gate_mutants, a_waiter_watches_who_has_the_number_now) {
  caught<detail::gates::watches_a_stranger::protocol>(
      {.processes = 3, .members = 2, .k = 1, .acts = 1, .among = acts("b")}, 1);
}
TEST(gate_mutants, newcomers_pass_the_queue) {
  caught<detail::gates::passes_the_queue::protocol>(
      {.processes = 3, .members = 3, .k = 2, .acts = 1, .among = acts("bc")}, 0);
}
TEST(gate_mutants, the_last_is_granted_first) {
  caught<detail::gates::last_first::protocol>({.processes = 3, .members = 3, .k = 1, .acts = 1, .among = acts("b")}, 0);
}
TEST(gate_mutants, waiters_do_not_grant) {
  caught<detail::gates::no_grant_by_waiters::protocol>(
      {.processes = 2, .members = 2, .k = 1, .acts = 1, .among = acts("ab")}, 1);
}
TEST(gate_mutants, late_helpers_of_the_queue) {
  caught<detail::gates::late_relink::protocol>({.processes = 2, .members = 2, .k = 1, .acts = 2, .among = acts("be")},
                                               0);
}
TEST(gate_mutants, late_helpers_of_neighbours) {
  caught<detail::gates::late_link::protocol>({.processes = 3, .members = 3, .k = 1, .acts = 1, .among = acts("be")}, 0);
}
TEST(gate_mutants, the_queue_before_its_links) {
  caught<detail::gates::queue_first::protocol>({.processes = 3, .members = 3, .k = 1, .acts = 1, .among = acts("b")},
                                               0);
}
TEST(gate_mutants, a_sleeper_does_not_check_again) {
  caught<detail::gates::sleeps_at_once::protocol>({.processes = 2, .members = 2, .k = 1, .acts = 1, .among = acts("b")},
                                                  0);
}

}  // namespace
}  // namespace kgate::lab
