// SPDX-License-Identifier: Apache-2.0
// Lemma 4.3 where its redundancy matters. The supervisor's state is distributed over helpers once more than
// c1 = l max(1, k-1) + 2k - 2 processes try: with one permit and k = 2 that takes four of them, with k = l = 2 five.

#include "algorithms/flbb79/distributed.hpp"

#include <gtest/gtest.h>

#include "algorithms/decide.hpp"
#include "mutants/never_drone.hpp"

namespace kgate::flbb79 {
namespace {

TEST(Distributed, SimulatesItsSupervisorN3l1k1) { expect_simulation<3, as_corrected>(1, 1, 0, 142'118); }

TEST(Distributed, SimulatesItsSupervisorWithOneCrashN4l1k2) {
  const auto seen = expect_simulation<4>(1, 2, 1, 2'588'777);
  EXPECT_EQ(seen.distributed, 1'754'764u);
  EXPECT_EQ(seen.handed_over, 39'674u);
  EXPECT_EQ(seen.closest_to_standstill, 2u) << "one process fewer and it would stop: all redundancy was needed";
}

/// More permits than failures: l and k apart, as the lemma has them.
TEST(Distributed, SimulatesItsSupervisorN4l2k1) { expect_simulation<4>(2, 1, 1, 139'304); }
TEST(Distributed, SimulatesItsSupervisorN4l3k1) {
  const auto seen = simulation_search<bucket_system<>, wide_messages, 4>(3, 1).run(1, 1'000'000);
  EXPECT_EQ(seen.wrong, "");
  EXPECT_TRUE(seen.complete);
  EXPECT_EQ(seen.states, 122'914u);
  EXPECT_EQ(seen.distributed, 25'104u);
}

/// The short-name queue, whose state is distributed once more than l + 2k - 1 processes try.
TEST(Distributed, TheQueueSimulatesItsSupervisorN3l1k1) {
  const auto seen = expect_simulation<3, wide_messages, fifo_system>(1, 1, 1, 101'657);
  EXPECT_EQ(seen.distributed, 83'134u);
}

/// Fewer than k failures and one permit, or two: enabled in order of arrival (C5') whichever fails, and the supervisor
/// goes on (S4). Three processes leave the state in shared memory.
TEST(InOrder, TheQueueEnablesByArrivalWithOneCrashN3) {
  for (const auto& [l, states] : {std::pair<int, std::size_t>{1, 160'445}, {2, 162'119}}) {
    const auto seen = simulation_search<fifo_system, wide_messages, 3>(l, 2, true).run(1, 1'000'000);
    EXPECT_EQ(seen.wrong, "") << "l = " << l;
    EXPECT_TRUE(seen.complete);
    EXPECT_EQ(seen.states, states);
    EXPECT_EQ(seen.distributed, 0u);
  }
}
TEST(InOrder, TheQueueEnablesByArrivalWithItsStateDistributedN3l1k1) {
  const auto seen = simulation_search<fifo_system, wide_messages, 3>(1, 1, true).run(1, 1'000'000);
  EXPECT_EQ(seen.wrong, "");
  EXPECT_EQ(seen.distributed, 83'134u);
}
TEST(InOrder, BucketsDoNot) {
  const auto seen = simulation_search<bucket_system<>, wide_messages, 3>(1, 1, true).run(1, 1'000'000);
  EXPECT_EQ(seen.wrong, "C5': enabled out of turn");
}

/// c2 and c3 of the lemma: what the number of values in `kgate-lab space` is reckoned with does not grow with N.
TEST(Distributed, R7AndR8AreBoundedWhateverNIsl1k1) {
  const auto three = simulation_search<bucket_system<>, wide_messages, 3>(1, 1).run(1, 1'000'000);
  const auto four = simulation_search<bucket_system<>, wide_messages, 4>(1, 1).run(1, 1'000'000);
  EXPECT_TRUE(three.complete && four.complete);
  EXPECT_EQ(three.states_in_memory, 9u);
  EXPECT_EQ(four.states_in_memory, 9u) << "R7";
  EXPECT_EQ(three.next_states, 4u);
  EXPECT_EQ(four.next_states, 4u) << "R8: max(2^l, l + 3), as src/lab/experiments/space.cpp has it";
}

/// Of the queue both still grow: R8 from N = 3 to 4 (distributed_deep_test.cpp), R7 at these sizes too.
TEST(Distributed, R7AndR8OfTheQueueAreCountedl1k1) {
  const auto two = simulation_search<fifo_system, wide_messages, 2>(1, 1).run(1, 1'000'000);
  const auto three = simulation_search<fifo_system, wide_messages, 3>(1, 1).run(1, 1'000'000);
  EXPECT_TRUE(two.complete && three.complete);
  EXPECT_EQ(two.next_states, 3u);
  EXPECT_EQ(three.next_states, 3u);
  EXPECT_EQ(two.states_in_memory, 52u);
  EXPECT_EQ(three.states_in_memory, 128u);
}

template <class M>
using wide_buckets = supervised<M, bucket_system<>, wide_messages>;
TEST(Distributed, TheCheckerMeetsAsManyStatesN2l1k1) {
  const auto seen = simulation_search<bucket_system<>, wide_messages, 2>(1, 1).run(0, 1'000'000);
  EXPECT_EQ(seen.states, 16'116u);
  EXPECT_EQ(lab::decide<wide_buckets>({2, 1, 0, 0, true}, "k-exclusion").states, seen.states);
}

/// Two quitters keep both slots, and the helper gets none.
TEST(DistributedMutant, WithoutTheTestOfPrevhelperTheSupervisorStopsN5l2k1) {
  const auto seen = simulation_search<bucket_system<>, without_prevhelper, 5>(2, 1).run(1, 10'000'000);
  EXPECT_EQ(seen.wrong, "S4: the supervisor stops");
}

/// elig(c) never becomes D: R4 does not hold. Nothing else would change: a process that its supervisor makes a drone
/// has been a quitter for a whole stage. So by its next step its slot is DEAD, or PREVIOUS with prevhelper false, and
/// is released without being asked for its class. That no slot is ever released for the class alone is what
/// `lonely_releases` counts, in all states of the tests above and of distributed_deep_test.cpp.
TEST(DistributedMutant, EligNeverSetToDBreaksR4N3l1k1) {
  const auto seen = simulation_search<never_drone::bucket_system<>, wide_messages, 3>(1, 1).run(0, 1'000'000);
  EXPECT_EQ(seen.wrong, "R4");
}

}  // namespace
}  // namespace kgate::flbb79
