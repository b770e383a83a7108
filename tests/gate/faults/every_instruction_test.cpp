// SPDX-License-Identifier: Apache-2.0
#include "gate/faults/every_instruction.hpp"

namespace kgate::faults {
namespace {

void enter(gate&, gate::member& m) { m.enter(); }
void leave(gate&, gate::member& m) { m.leave(); }
void around(gate&, gate::member& m) {
  m.enter();
  m.leave();
}
void around_and_enter(gate& g, gate::member& m) {
  around(g, m);
  m.enter();
}
void around_twice(gate& g, gate::member& m) {
  around(g, m);
  around(g, m);
}

TEST(every_instruction, of_entering_and_leaving_alone) {
  const tally seen =
      kill_at_every_instruction({.name = "enter and leave twice, uncontended", .k = 2, .act = around_twice});
  EXPECT_GT(seen.kills, 200U);
}

#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
std::size_t instructions_of(std::function<void(gate&, gate::member&)> act) {
  tally out;
  one_death({.name = "count", .k = 2, .prepare = around, .act = std::move(act)}, 100'000, out, way::recorded);
  return out.path.size();
}

/// Of the text of gate_short_path.hpp as it is compiled, with the call of time() and this test's own.
TEST(instructions, of_a_passage_alone) {
  const std::size_t passage = instructions_of(around_twice) - instructions_of(around);
  std::printf("%zu instructions\n", passage);
  EXPECT_LE(passage, 54U);
}
#endif

TEST(every_instruction, of_entering_after_somebody_else) {
  kill_at_every_instruction(
      {.name = "enter, others came and went", .k = 2, .passer_by = true, .prepare = around, .act = around});
}

TEST(every_instruction, of_leaving_after_somebody_else) {
  kill_at_every_instruction(
      {.name = "leave, others came and went", .k = 2, .passer_by = true, .prepare = around_and_enter, .act = leave});
}

TEST(every_instruction, of_taking_a_slot) {
  kill_at_every_instruction({.name = "slot and leave", .k = 2, .prepare = enter, .act = [](gate& g, gate::member& m) {
                               m.slot();
                               leave(g, m);
                             }});
}

TEST(every_instruction, of_a_leaver_with_one_waiter) {
  kill_at_every_instruction({.name = "leave, one waits", .waiter_before = true, .prepare = enter, .act = leave});
}

TEST(every_instruction, of_dismissing_a_holder_with_one_waiter) {
  kill_at_every_instruction({.name = "dismiss the holder, one waits", .dismisses = true, .waiter_before = true}, 1);
}

TEST(every_instruction, of_queueing_up_with_one_behind) {
  // As far as the spin that waiting begins with; the whole is in the deep tier.
  kill_at_every_instruction(
      {.name = "queue up, one behind", .holder = true, .waiter_after = true, .act = enter, .steps_max = 900});
}

TEST(every_instruction, of_a_waiter_that_is_let_in) {
  kill_at_every_instruction({.name = "granted waiter",
                             .holder = true,
                             .waiter_after = true,
                             .act = enter,
                             .grant_first = true,
                             .steps_max = 1500});
}

}  // namespace
}  // namespace kgate::faults
