// SPDX-License-Identifier: Apache-2.0
/// Waiters that doze, without time-outs: more of them than in doze_test.cpp.
#include "gate/lab/doze_scripts.hpp"

namespace kgate::lab {
namespace {

TEST(gate_doze_deep, is_ended_by_a_grant) {
  const script_verdict seen = explore(three('b', 3), dozes::for_ever);
  EXPECT_TRUE(seen.holds) << seen.text;
}
TEST(gate_doze_deep, is_ended_by_the_end_of_one_of_two) {
  const script_verdict seen =
      explore({.processes = 3, .members = 3, .k = 2, .acts = 1, .among = acts("s")}, dozes::for_ever);
  EXPECT_TRUE(seen.holds) << seen.text;
}

}  // namespace
}  // namespace kgate::lab
