// SPDX-License-Identifier: Apache-2.0
/// More operations, and a larger object behind the assignment.

#include "healing_explored.hpp"
#include "resilient_explored.hpp"

namespace kgate::lab {
namespace {

TEST(WaitFreeExploredDeep, TwoProcessesThreeOperationsEach) {
  const operations_result r = explored<pair, wait_free_operations<pair>>(2, 2, 3);
  EXPECT_TRUE(r.complete);
  EXPECT_TRUE(r.linearizable) << r.why;
  EXPECT_FALSE(r.waited);
  EXPECT_EQ(r.own_steps_max, 61);  // all three attempts lost, and the last look
}

TEST(ResilientExploredDeep, TheOthersEndThoughOneStallsForEver) {
  EXPECT_EQ((ends_despite<pair, resilient_operations<pair, papers_names>>(1, std::uint64_t{5} << 30)), verdict::holds);
}

TEST(HealingExploredDeep, BehindTwoNamesNothingIsLost) {
  nothing_is_lost<tiny>(2, 2, 2, 0);
  nothing_is_lost<tiny>(2, 2, 2, 1);
}

}  // namespace
}  // namespace kgate::lab
