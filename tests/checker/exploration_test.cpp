// SPDX-License-Identifier: Apache-2.0
// State counts known by hand, two engines, any number of threads.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "checker/checked_programs.hpp"
#include "checker/reference_engine.hpp"

namespace kgate::lab {
namespace {

TEST(StateCounts, ATurnstileHasTwoToTheN) {
  for (int N = 1; N <= 6; ++N) {
    auto p = toy<toys::turnstile>(N, N);
    const exploration e = explore(*p, {}, {});
    EXPECT_TRUE(e.complete);
    EXPECT_EQ(e.states, std::uint64_t{1} << N);
    EXPECT_EQ(e.transitions, static_cast<std::uint64_t>(N) << N);
    EXPECT_EQ(e.levels.size(), static_cast<std::size_t>(N) + 1) << "the state with all inside is N steps away";
  }
}

TEST(StateCounts, ALimitedTurnstileCountsPassages) {
  // Two passages: each process is before, in or after one of them: 5 local states, all combinations.
  auto p = toy<toys::turnstile>(3, 3, {.passages = 2, .wrong = {}});
  const exploration e = explore(*p, {}, {});
  EXPECT_EQ(e.states, 5U * 5 * 5);
  EXPECT_EQ(e.transitions, 3U * 4 * 5 * 5);
}

TEST(StateCounts, ALockBitForTwoHasEleven) {
  auto p = toy<toys::lock_bit>(2, 1);
  const exploration e = explore(*p, {}, {});
  EXPECT_EQ(e.states, 11U);
  EXPECT_EQ(e.transitions, 20U);
}

TEST(StateCounts, ABatonVisitsEveryCombination) {
  // The holder of the turn is in its remainder or inside; the others stand before the same wait, which does not count
  // as having left the remainder until it succeeds: N holders times 2.
  for (int N = 2; N <= 5; ++N) {
    auto p = toy<toys::round_robin>(N, 1);
    const exploration e = explore(*p, {}, {});
    EXPECT_EQ(e.states, 2U * static_cast<unsigned>(N));
    EXPECT_EQ(e.transitions, 2U * static_cast<unsigned>(N)) << "only the holder of the turn ever moves";
  }
}

class TwoEngines : public testing::TestWithParam<engine_case> {};

TEST_P(TwoEngines, FindTheSameStatesAndSteps) {
  const auto [id, N, k] = GetParam();
  auto p = from_catalog(id, N, k);
  const exploration fast = explore(*p, {}, {});
  auto again = from_catalog(id, N, k);
  const reference_count slow = explore_by_reference(*again);
  EXPECT_EQ(fast.states, slow.states);
  EXPECT_EQ(fast.transitions, slow.transitions);
  EXPECT_LE(slow.inside_max, k);
}
INSTANTIATE_TEST_SUITE_P(Small, TwoEngines,
                         testing::Values(engine_case{"am97-chain-cc", 2, 1}, engine_case{"am97-chain-cc", 3, 2},
                                         engine_case{"am97-chain-cc", 3, 1}, engine_case{"am97-chain-dsm", 3, 2},
                                         engine_case{"am97-chain-dsm-small", 2, 1},
                                         engine_case{"am97-fastpath-nested-cc", 3, 1},
                                         engine_case{"am97-tree-cc", 3, 1}, engine_case{"am97-chain-cc+names", 3, 2},
                                         engine_case{"am97-queue", 3, 2}, engine_case{"peterson-k", 3, 2},
                                         engine_case{"fa-semaphore", 3, 2}, engine_case{"mcs", 3, 1}),
                         [](const auto& it) {
                           std::string name = it.param.id;
                           for (char& c : name)
                             if (c == '-' || c == '+') c = '_';
                           return name + "_N" + std::to_string(it.param.N) + "_k" + std::to_string(it.param.k);
                         });

TEST(Threads, DoNotChangeWhatIsFound) {
  for (const char* id : {"am97-chain-cc", "am97-chain-dsm", "am97-fastpath-nested-cc"}) {
    std::vector<std::uint64_t> states, transitions;
    std::vector<std::size_t> depth;
    for (const int threads : {1, 2, 4}) {
      auto p = from_catalog(id, 3, 1);
      run_limits limits;
      limits.threads = threads;
      const exploration e = explore(*p, {}, limits);
      states.push_back(e.states);
      transitions.push_back(e.transitions);
      depth.push_back(e.levels.size());
    }
    EXPECT_TRUE(states[0] == states[1] && states[0] == states[2]) << id;
    EXPECT_TRUE(transitions[0] == transitions[1] && transitions[0] == transitions[2]) << id;
    EXPECT_TRUE(depth[0] == depth[1] && depth[0] == depth[2]) << id;
  }
}

TEST(Threads, GiveCounterexamplesOfTheSameLength) {
  std::vector<std::size_t> length;
  for (const int threads : {1, 2, 4}) {
    auto p = from_catalog("fa-semaphore", 3, 1);
    const check_result r = check_all(*p, 1, threads);
    EXPECT_EQ(verdict_of(r, "deadlock-free", *p), verdict::violated);
    length.push_back(r.properties[1].counterexample->schedule.size());
  }
  EXPECT_TRUE(length[0] == length[1] && length[1] == length[2]);
}

}  // namespace
}  // namespace kgate::lab
