// SPDX-License-Identifier: Apache-2.0
// The reconstruction of the Dolev-Shavit labels: its digits, and L1-L3 over all runs of two and three processes.

#include <gtest/gtest.h>

#include "algorithms/afek94/label_walk.hpp"

namespace kgate::afek94 {
namespace {

TEST(Labelling, DigitsTwoThenACycleOfThree) {
  const labelling two(2);
  std::uint64_t label = 0;
  std::string seen = two.text(label);
  for (int i = 0; i < 6; ++i) {
    label = two.next(two.set(0, 0, label), 1);  // process 1 renews: process 0 holds the last label and stays
    label = two.next(two.set(two.set(0, 1, label), 0, 0), 0);
    seen += two.text(label);
  }
  EXPECT_EQ(seen, "1354354");
  EXPECT_TRUE(two.before(two.next(0, 0), 0, label, 1));
}

TEST(Labelling, OrderIsThatOfTheFirstDifferentDigitThenTheId) {
  const labelling three(3);
  const auto label = [](int a, int b) { return static_cast<std::uint64_t>((a - 1) << 3 | (b - 1)); };
  EXPECT_TRUE(three.before(label(1, 1), 0, label(1, 1), 1));
  EXPECT_FALSE(three.before(label(1, 1), 1, label(1, 1), 0));
  EXPECT_TRUE(three.before(label(1, 5), 2, label(2, 1), 0));
  EXPECT_TRUE(three.before(label(2, 1), 2, label(5, 1), 0));
  EXPECT_TRUE(three.before(label(5, 1), 2, label(3, 1), 0)) << "3 < 4 < 5 < 3";
  EXPECT_TRUE(three.before(label(3, 4), 2, label(3, 5), 0));
  EXPECT_FALSE(three.before(label(3, 1), 0, label(5, 5), 1));
}

TEST(Labelling, ANewLabelKeepsThePrefixOfTheLastOneWhileThereIsRoom) {
  const labelling three(3);
  EXPECT_EQ(three.text(three.next(0, 0)), "21") << "two others agree on digit 1: no room there";
  label_vector labels = three.set(0, 0, three.next(0, 0));
  EXPECT_EQ(three.last(labels), 0);
  EXPECT_EQ(three.text(three.next(labels, 1)), "22");
}

class AllRuns : public testing::TestWithParam<int> {};
TEST_P(AllRuns, KeepTheOrder) {
  const label_walk_result result = label_walk<>(GetParam()).run();
  EXPECT_EQ(result.violated, "");
  RecordProperty("states", static_cast<int>(result.states));
  EXPECT_GT(result.states, 10u);
}
INSTANTIATE_TEST_SUITE_P(Processes, AllRuns, testing::Values(2, 3));

/// Takes room at digit h one process too early.
struct early_labelling : labelling {
  using labelling::labelling;
  constexpr std::uint64_t next(label_vector labels, int i) const {
    const std::uint64_t m = get(labels, last(labels));
    return labelling::next(set(labels, i, m), i == 0 ? 1 : 0);
  }
};
TEST(LabellingMutant, CountingItselfAmongTheOthersIsCaught) {
  EXPECT_NE(label_walk<early_labelling>(3).run().violated, "");
}

/// 5 < 3 left out: the last three digits in a line.
struct linear_labelling : labelling {
  using labelling::labelling;
  constexpr bool before(std::uint64_t a, int i, std::uint64_t b, int j) const { return a != b ? a < b : i < j; }
};
TEST(LabellingMutant, DigitsInALineAreCaught) { EXPECT_NE(label_walk<linear_labelling>(2).run().violated, ""); }

}  // namespace
}  // namespace kgate::afek94
