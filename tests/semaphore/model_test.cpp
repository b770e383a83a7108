// SPDX-License-Identifier: Apache-2.0
// The kgate algorithm under all schedules, with at most k-1 crashes at any
// step. Tickets wrap during every run.
#include <gtest/gtest.h>

#include <cstdio>
#include <ostream>

#include "lab_gates.hpp"

namespace kgate::lab {
namespace {

const std::vector<std::string> promised_progress{"k-exclusion", "deadlock-free", "starvation-free"};

struct bounds {
  int N, k, passages;
  friend void PrintTo(const bounds& b, std::ostream* out) {
    *out << "N = " << b.N << ", k = " << b.k << ", " << b.passages << " passages each";
  }
};

class KgateModel : public testing::TestWithParam<bounds> {};

TEST_P(KgateModel, FifoKeepsAllItsPromises) {
  const auto [N, k, passages] = GetParam();
  const auto got = verdicts<fifo_gate>(
      N, k, passages, k - 1,
      {"k-exclusion", "deadlock-free", "starvation-free", "bounded-exit", "fife", "bounded-waiting"});
  EXPECT_EQ(got.overall(), verdict::holds) << text(got);
  for (const property_result& one : got.properties) {
    if (one.name == "bounded-waiting") {
      EXPECT_EQ(one.figures.at(0).second, 0) << "overtaken";
    }
    if (one.name == "bounded-exit") {
      EXPECT_LE(one.figures.at(0).second, 3) << "steps";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Small, KgateModel,
                         testing::Values(bounds{2, 1, 3}, bounds{3, 1, 2}, bounds{3, 2, 2}, bounds{4, 2, 1},
                                         bounds{4, 3, 1}));

TEST(KgateModelVariants, SlotsAreDistinct) {
  auto properties = promised_progress;
  properties.push_back("distinct-names");
  for (const bounds b : {bounds{2, 2, 2}, bounds{3, 2, 1}}) {
    const auto got = verdicts<slots_gate>(b.N, b.k, b.passages, b.k - 1, properties);
    EXPECT_EQ(got.overall(), verdict::holds) << testing::PrintToString(b) << ": " << text(got);
  }
}

// Two names a word, so that there are words above: hints that are wrong for a while cost no process its name.
TEST(KgateModelVariants, SlotsWithHintsAreDistinct) {
  const auto got = verdicts<hinted_slots_gate>(3, 3, 1, 0, {"k-exclusion", "deadlock-free", "distinct-names"});
  EXPECT_EQ(got.overall(), verdict::holds) << text(got);
  const auto wrong = verdicts<hinted_slots_gate>(3, 3, 1, 0, {"distinct-names"}, {.wrong = "force:n2=3"});
  EXPECT_EQ(wrong.overall(), verdict::violated) << "a name is taken for free without asking: " << text(wrong);
}

// A permit and a name in one step.
TEST(KgateModelVariants, NamesInTheWordAreDistinct) {
  auto properties = promised_progress;
  properties.push_back("distinct-names");
  for (const bounds b : {bounds{2, 1, 3}, bounds{2, 2, 2}, bounds{3, 2, 1}, bounds{4, 3, 1}}) {
    const auto got = verdicts<named_gate>(b.N, b.k, b.passages, b.k - 1, properties);
    EXPECT_EQ(got.overall(), verdict::holds) << testing::PrintToString(b) << ": " << text(got);
  }
  for (const char* wrong : {"drop:n1", "force:1n=1"}) {
    const auto got = verdicts<named_gate>(3, 2, 1, 0, properties, {.wrong = wrong});
    EXPECT_EQ(got.overall(), verdict::violated) << wrong << ": " << text(got);
  }
}

TEST(KgateRmr, TwoAloneAndEveryReadHasItsPrice) {
  const auto alone = worst_cc<fifo_gate>(1, 1, 2);
  EXPECT_TRUE(alone.complete && !alone.unbounded);
  EXPECT_EQ(alone.worst, 2);
  for (const bounds b : {bounds{2, 1, 2}, bounds{3, 1, 1}, bounds{3, 2, 2}}) {
    const auto looking = worst_cc<fifo_gate>(b.N, b.k, b.passages);
    EXPECT_TRUE(looking.complete && !looking.unbounded);
    std::printf("N=%d k=%d: worst case %d remote references\n", b.N, b.k, looking.worst);
    EXPECT_LE(looking.worst, 6 + 4 * (b.N - 1)) << "a look can cost once for every step of another";
  }
}

struct mutant {
  const char* wrong;
  const char* why;
};

TEST(KgateMutants, AreCaught) {
  for (const mutant m : {mutant{"force:1=0", "everybody draws the same ticket"},
                         mutant{"drop:8", "a leaver keeps its permit"}, mutant{"drop:2w", "a waiter does not wait"}}) {
    const auto got = verdicts<fifo_gate>(3, 2, 1, 1, promised_progress, {.wrong = m.wrong});
    EXPECT_EQ(got.overall(), verdict::violated) << m.wrong << ", " << m.why << ": " << text(got);
  }
}

}  // namespace
}  // namespace kgate::lab
