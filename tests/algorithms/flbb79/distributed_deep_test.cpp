// SPDX-License-Identifier: Apache-2.0
// Lemma 4.3 over all states, at sizes that take a minute or more.

#include "algorithms/flbb79/distributed.hpp"

namespace kgate::flbb79 {
namespace {

TEST(Distributed, SimulatesItsSupervisorN5l2k1) { expect_simulation<5>(2, 1, 1, 1'305'095); }

TEST(Distributed, TheQueueSimulatesItsSupervisorN4l1k1) {
  expect_simulation<4, wide_messages, fifo_system>(1, 1, 1, 2'656'904);
}

/// Up to two places the slots of quitters leave enough for the helpers: the test of prevhelper is not needed.
TEST(DistributedMutant, WithoutTheTestOfPrevhelperNothingIsWrongN4l1k2) {
  expect_simulation<4, without_prevhelper>(1, 2, 1, 2'587'973);
}

}  // namespace
}  // namespace kgate::flbb79
