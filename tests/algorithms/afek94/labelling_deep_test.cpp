// SPDX-License-Identifier: Apache-2.0
// L1-L3 over all runs of four processes.

#include <gtest/gtest.h>

#include "algorithms/afek94/label_walk.hpp"

namespace kgate::afek94 {
namespace {

TEST(AllRuns, OfFourProcessesKeepTheOrder) {
  const label_walk_result result = label_walk<>(4).run();
  EXPECT_EQ(result.violated, "");
  RecordProperty("states", static_cast<int>(result.states));
}

}  // namespace
}  // namespace kgate::afek94
