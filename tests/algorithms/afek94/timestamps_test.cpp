// SPDX-License-Identifier: Apache-2.0
// Proposition 3.1 of Afek et al. for the bounded timestamp system, every register access a step of its own: over all
// runs of two processes, over all runs of a few calls of three, and over long random runs of three and four.

#include <gtest/gtest.h>

#include <random>

#include "algorithms/afek94/proposition.hpp"
#include "lab/checker/model/walker.hpp"
#include "mutants/borrows_early.hpp"
#include "mutants/no_handshake.hpp"
#include "mutants/old_view.hpp"

namespace kgate::lab {
namespace {

template <class M>
using borrows_early = afek94::borrows_early::bounded_timestamps<M>;
template <class M>
using old_view = afek94::old_view::bounded_timestamps<M>;
template <class M>
using no_handshake = afek94::no_handshake::bounded_timestamps<M>;

TEST(Proposition31, HoldsOverAllRunsOfTwoProcesses) {
  const noted_runs all = explore_calls<bounded>({"LSS", "LSS"}, 0);
  EXPECT_TRUE(all.complete);
  EXPECT_EQ(all.violated, "");
}

/// Every process labels at least once while the others label and scan; timestamps_deep_test.cpp has the larger mixes.
TEST(Proposition31, HoldsOverAllRunsOfThreeProcessesWithALabelAndAScanEach) {
  const noted_runs all = explore_calls<bounded>({"LS", "LS", "LS"}, 1);
  EXPECT_TRUE(all.complete);
  EXPECT_EQ(all.violated, "");
  EXPECT_EQ(all.states, 8'043'381u);
}
TEST(Proposition31, HoldsOverAllRunsOfThreeProcessesOneOfThemLabellingTwice) {
  const noted_runs all = explore_calls<bounded>({"LS", "LL", "LS"}, 1);
  EXPECT_TRUE(all.complete);
  EXPECT_EQ(all.violated, "");
}

/// What a random run finds violated. Turns are long or short, so that there are both crowds and stragglers.
template <template <class> class Timestamps>
std::string random_run(int n, unsigned seed, unsigned turn, int steps) {
  program p(noting_model<Timestamps>(call_mix(static_cast<std::size_t>(n), "LSS")), n, n, {});
  walker run(p);
  std::mt19937 random(seed);
  int who = 0;
  for (int i = 0; i < steps; ++i) {
    if (random() % turn == 0) who = static_cast<int>(random() % static_cast<unsigned>(n));
    run.step(who);
  }
  return violated_parts(p);
}
TEST(Proposition31, HoldsOnRandomRunsOfThreeAndFour) {
  for (const int n : {3, 4})
    for (unsigned seed = 1; seed <= 4; ++seed)
      EXPECT_EQ(random_run<bounded>(n, seed, seed % 2 == 0 ? 2 : 8, 10000), "") << "n " << n << " seed " << seed;
}

TEST(Proposition31, FailsForThePrintedTestOfLabel) { EXPECT_NE(random_run<printed>(2, 1, 8, 1000), ""); }

/// A view is borrowed from a process that was seen to write once, and may be older than the Scan.
TEST(Proposition31, FailsWhenAViewIsBorrowedTooEarly) {
  EXPECT_EQ(explore_calls<borrows_early>({"LS", "LS", "L"}, 1).violated, "1 4 5");
}
/// The new label exceeds those of the caller's previous view.
TEST(Proposition31, FailsWhenALabelIsMadeFromAnOldView) {
  EXPECT_EQ(explore_calls<old_view>({"LLS", "LLS"}, 1).violated, "1");
}
/// The second collect looks at the toggles only: two writes in between go unnoticed. No smaller run was found.
TEST(Proposition31, FailsWhenTheSecondCollectIgnoresTheHandshakes) {
  EXPECT_EQ(random_run<no_handshake>(4, 22, 11, 17'400), "1");
}

}  // namespace
}  // namespace kgate::lab
