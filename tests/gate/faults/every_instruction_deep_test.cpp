// SPDX-License-Identifier: Apache-2.0
// The rarer roles, and the loops for as many rounds as they take.
#include "gate/faults/every_instruction.hpp"

namespace kgate::faults {
namespace {

void enter(gate&, gate::member& m) { m.enter(); }
void leave(gate&, gate::member& m) { m.leave(); }

TEST(every_instruction_deep, of_giving_up) {
  kill_at_every_instruction(
      {.name = "give up in the queue", .holder = true, .waiter_after = true, .act = [](gate&, gate::member& m) {
         (void)m.try_enter_for(std::chrono::microseconds(1));
       }});
}

TEST(every_instruction_deep, of_a_waiter_that_waits_on) {
  // Spins, looks after the gate, sleeps, and again: then it repeats itself.
  kill_at_every_instruction(
      {.name = "enter and wait, one behind", .holder = true, .waiter_after = true, .act = enter, .steps_max = 14000});
}

TEST(every_instruction_deep, of_a_waiter_behind_another) {
  kill_at_every_instruction({.name = "enter and wait behind another",
                             .holder = true,
                             .waiter_before = true,
                             .waiter_after = true,
                             .act = enter,
                             .steps_max = 3000});
}

TEST(every_instruction_deep, of_a_leaver_with_two_waiters) {
  kill_at_every_instruction({.name = "leave, two wait, k = 2",
                             .k = 2,
                             .holder = true,
                             .waiter_before = true,
                             .waiter_after = true,
                             .prepare = enter,
                             .act = leave},
                            1000);
}

TEST(every_instruction_deep, of_a_healer_of_the_head_of_the_queue) {
  kill_at_every_instruction({.name = "heal two dead waiters",
                             .holder = true,
                             .waiter_after = true,
                             .dead_waiting = 2,
                             .act = enter,
                             .steps_max = 14000});
}

TEST(every_instruction_deep, of_a_healer_of_two_holders) {
  kill_at_every_instruction({.name = "heal two dead holders",
                             .k = 2,
                             .dead_inside = 2,
                             .act =
                                 [](gate& g, gate::member& m) {
                                   enter(g, m);
                                   leave(g, m);
                                 }},
                            1000);
}

TEST(every_instruction_deep, of_a_heavy_entry) {
  kill_at_every_instruction({.name = "weight 2 with slots",
                             .k = 3,
                             .act =
                                 [](gate&, gate::member& m) {
                                   m.enter(2);
                                   m.slots();
                                   m.leave();
                                 }},
                            1000);
}

TEST(every_instruction_deep, of_looking) {
  kill_at_every_instruction({.name = "status with a dead holder",
                             .dead_inside = 1,
                             .act = [](gate& g, gate::member&) { g.status(); },
                             .steps_max = 20'000});
}

TEST(every_instruction_deep, of_resizing_and_entering) {
  kill_at_every_instruction({.name = "resize, then enter with a weight and slots",
                             .k = 2,
                             .resizes_to = 3,
                             .act = [](gate& g, gate::member& m) {
                               g.resize(3);
                               m.enter(2);
                               m.slots();
                               m.leave();
                             }});
}

TEST(every_instruction_deep, of_growing) {
  kill_at_every_instruction({.name = "resize 1 to 2, one waits",
                             .k = 1,
                             .resizes_to = 2,
                             .holder = true,
                             .waiter_before = true,
                             .act = [](gate& g, gate::member&) { g.resize(2); }});
}

TEST(every_instruction_deep, of_shrinking) {
  kill_at_every_instruction({.name = "resize 3 to 1 with one inside",
                             .k = 3,
                             .resizes_to = 1,
                             .holder = true,
                             .act = [](gate& g, gate::member&) { g.resize(1); }});
}

TEST(every_instruction_deep, of_joining_and_parting) {
  kill_at_every_instruction({.name = "join, enter, part",
                             .k = 2,
                             .dead_inside = 1,
                             .act =
                                 [](gate& g, gate::member&) {
                                   gate::member other = g.join();
                                   other.enter();
                                 },
                             .steps_max = 30'000},
                            4);
}

TEST(every_instruction_deep, of_removing) {
  kill_at_every_instruction({.name = "remove",
                             .k = 2,
                             .removes = true,
                             .act = [](gate& g, gate::member&) { g.remove(); },
                             .steps_max = 60'000},
                            1);
}

TEST(every_instruction_deep, of_a_healer_of_a_holder) {
  kill_at_every_instruction({.name = "heal a dead holder", .dead_inside = 1, .act = enter});
}

}  // namespace
}  // namespace kgate::faults
