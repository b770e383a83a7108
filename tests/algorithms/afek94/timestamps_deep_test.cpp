// SPDX-License-Identifier: Apache-2.0
// Proposition 3.1 of Afek et al. over all runs of three processes, with more calls than the quick tests make: a second
// Scan, second Labels made from labels already renewed, and a writer that moves three times during one Scan, so that
// views are borrowed.

#include <gtest/gtest.h>

#include "algorithms/afek94/proposition.hpp"

namespace kgate::lab {
namespace {

void holds(const call_mix& calls) {
  const noted_runs all = explore_calls<bounded>(calls, 1);
  EXPECT_TRUE(all.complete);
  EXPECT_EQ(all.violated, "");
  EXPECT_GT(all.states, 10'000'000u);
}

TEST(Proposition31, HoldsWhenOneOfThreeScansTwice) { holds({"LS", "LSS", "LS"}); }
TEST(Proposition31, HoldsWhenTwoOfThreeLabelScanAndLabel) { holds({"LSL", "LSL", "LS"}); }
TEST(Proposition31, HoldsWhenTheFirstOfThreeLabelsAndScansTwice) { holds({"LSLS", "LS", "LS"}); }
TEST(Proposition31, HoldsWhenTheSecondOfThreeLabelsAndScansTwice) { holds({"LS", "LSLS", "LS"}); }
TEST(Proposition31, HoldsWhenTheThirdOfThreeLabelsAndScansTwice) { holds({"LS", "LS", "LSLS"}); }
TEST(Proposition31, HoldsWhenOneOfThreeLabelsThreeTimes) { holds({"LLL", "LS", "LS"}); }

}  // namespace
}  // namespace kgate::lab
