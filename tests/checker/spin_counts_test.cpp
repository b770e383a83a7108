// SPDX-License-Identifier: Apache-2.0
// The checker explores exactly what Spin explores: the numbers of states and transitions that Spin 6.5.2 reports for
// bench/checker/figure3.pml and figure8.pml, which were written from the paper and not from our texts.
// bench/checker/run derives them again with Spin itself.
#include <gtest/gtest.h>

#include <string>

#include "lab/checker/explore/explorer.hpp"
#include "lab/models/models.hpp"

namespace kgate::lab {
namespace {

struct counted {
  const char* model;
  const char* algorithm;
  int N, k;
  std::uint64_t states, transitions;
};

class SpinCounts : public testing::TestWithParam<counted> {};

TEST_P(SpinCounts, AreOurs) {
  const counted& spin = GetParam();
  for (const int threads : {1, 2}) {
    program p(make_model(find_algorithm(spin.algorithm), spin.N, spin.k), spin.N, spin.k, {});
    run_limits limits;
    limits.threads = threads;
    const exploration ours = explore(p, {.crashes = spin.k - 1}, limits);
    EXPECT_TRUE(ours.complete) << ours.why;
    EXPECT_EQ(ours.states, spin.states) << threads << " threads";
    EXPECT_EQ(ours.transitions, spin.transitions) << threads << " threads";
  }
}

INSTANTIATE_TEST_SUITE_P(Small, SpinCounts,
                         testing::Values(counted{"figure3", "am97-chain-cc", 2, 1, 58, 106},
                                         counted{"figure3", "am97-chain-cc", 3, 1, 6867, 19371},
                                         counted{"figure3", "am97-chain-cc", 3, 2, 543, 1554},
                                         counted{"figure3", "am97-chain-cc", 4, 2, 161880, 625032},
                                         counted{"figure3", "am97-chain-cc", 4, 3, 4316, 16764},
                                         counted{"figure8", "am97-chain-dsm", 2, 1, 232, 448},
                                         counted{"figure8", "am97-chain-dsm", 3, 1, 76815, 225207},
                                         counted{"figure8", "am97-chain-dsm", 3, 2, 5250, 15510},
                                         counted{"figure8", "am97-chain-dsm", 4, 3, 126544, 502304}),
                         [](const testing::TestParamInfo<counted>& instance) {
                           const counted& spin = instance.param;
                           return std::string(spin.model) + "_N" + std::to_string(spin.N) + "_k" +
                                  std::to_string(spin.k);
                         });

}  // namespace
}  // namespace kgate::lab
