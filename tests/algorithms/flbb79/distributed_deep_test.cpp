// SPDX-License-Identifier: Apache-2.0
// Lemma 4.3 over all states, at sizes that take a minute or more.

#include "algorithms/flbb79/distributed.hpp"

namespace kgate::flbb79 {
namespace {

TEST(Distributed, SimulatesItsSupervisorN5l2k1) { expect_simulation<5>(2, 1, 1, 1'305'095); }

TEST(Distributed, TheQueueSimulatesItsSupervisorN4l1k1) {
  const auto seen = expect_simulation<4, wide_messages, fifo_system>(1, 1, 1, 2'656'904);
  EXPECT_EQ(seen.next_states, 5u) << "R8: 3 at N = 2 and 3, docs/errata.md";
  EXPECT_EQ(seen.states_in_memory, 320u) << "R7: more than at N = 3, docs/errata.md";
}

/// Two permits and k = 2, which takes five processes: not all states, but the first of them by breadth.
/// Nothing is wrong in them, and the state is distributed and handed over in many.
TEST(Distributed, SimulatesItsSupervisorWithOneCrashInTheFirstStatesN5l2k2) {
  const auto seen = simulation_search<bucket_system<>, whole_messages, 5>(2, 2).run(1, 3'000'000);
  std::cout << "N = 5, l = 2, k = 2, not all: " << seen.states << " states, " << seen.distributed
            << " of them with the state distributed, " << seen.distributed_stages << " supervisor steps from there, "
            << seen.handed_over << " hand-overs\n";
  EXPECT_EQ(seen.wrong, "");
  EXPECT_FALSE(seen.complete);
  EXPECT_GT(seen.distributed, seen.states / 4);
  EXPECT_GT(seen.handed_over, 1000u);
  EXPECT_EQ(seen.lonely_releases, 0u);
  EXPECT_GE(seen.closest_to_standstill, 2u);
}

/// Up to two permits the slots of quitters leave enough for the helpers: the test of prevhelper is not needed.
TEST(DistributedMutant, WithoutTheTestOfPrevhelperNothingIsWrongN4l1k2) {
  expect_simulation<4, without_prevhelper>(1, 2, 1, 2'587'973);
}

}  // namespace
}  // namespace kgate::flbb79
