// SPDX-License-Identifier: Apache-2.0
// Verdicts known by hand, and limits that leave them undecided.

#include <gtest/gtest.h>

#include <atomic>

#include "checker/checked_programs.hpp"
#include "lab/checker/graph/local_analysis.hpp"

namespace kgate::lab {
namespace {

TEST(Verdicts, ALockBitLetsOneStarve) {
  auto p = toy<toys::lock_bit>(2, 1);
  const check_result r = check_all(*p, 0);
  EXPECT_EQ(verdict_of(r, "k-exclusion", *p), verdict::holds);
  EXPECT_EQ(verdict_of(r, "deadlock-free", *p), verdict::holds);
  EXPECT_EQ(verdict_of(r, "starvation-free", *p), verdict::violated);
  EXPECT_EQ(verdict_of(r, "bounded-exit", *p), verdict::holds);
}

TEST(Verdicts, AnOverfullTurnstileIsNoticedInAsManySteps) {
  auto p = toy<toys::turnstile>(5, 2);
  const check_result r = check_all(*p, 0);
  EXPECT_EQ(verdict_of(r, "k-exclusion", *p), verdict::violated);
  EXPECT_EQ(r.properties[0].counterexample->schedule.size(), 3U) << "three processes go in";
  EXPECT_EQ(verdict_of(r, "starvation-free", *p), verdict::undecided) << "not explored beyond the violation";
}

TEST(Verdicts, PoliteProcessesNeedNeverEnter) {
  auto p = toy<toys::after_you>(2, 1);
  const check_result r = check_all(*p, 0);
  EXPECT_EQ(verdict_of(r, "k-exclusion", *p), verdict::holds);
  EXPECT_EQ(verdict_of(r, "deadlock-free", *p), verdict::violated) << "busy in vain";
  EXPECT_EQ(verdict_of(r, "starvation-free", *p), verdict::violated);
}

TEST(Verdicts, ALingererNeedNeverLeave) {
  auto p = toy<toys::lingerer>(2, 2);
  const check_result r = check_all(*p, 0);
  EXPECT_TRUE(has_cycle_in(*p, region::exit));
  EXPECT_EQ(verdict_of(r, "bounded-exit", *p), verdict::violated);
}

TEST(Verdicts, ABatonStarvesThoseAfterTheIdle) {
  // A process that waits for its turn has not left its remainder before the turn comes, so none is ever in its entry.
  auto p = toy<toys::round_robin>(3, 1);
  const check_result r = check_all(*p, 0);
  EXPECT_EQ(verdict_of(r, "k-exclusion", *p), verdict::holds);
  EXPECT_EQ(verdict_of(r, "starvation-free", *p), verdict::holds);
}

TEST(Verdicts, ExitStepsAreCounted) {
  auto p = from_catalog("am97-chain-cc", 3, 1);
  const check_result r = check_all(*p, 0);
  ASSERT_EQ(verdict_of(r, "bounded-exit", *p), verdict::holds);
  EXPECT_EQ(exit_steps_max(*p), 4) << "statements 7 and 8 at each of two levels";
}

TEST(Limits, EndInUndecided) {
  auto p = from_catalog("am97-chain-cc", 5, 2);
  check_request request;
  request.of = {"am97-chain-cc", 5, 2, 0, {}};
  request.properties = {"k-exclusion", "deadlock-free", "starvation-free", "bounded-exit"};
  request.crashes = 1;
  request.limits.memory_max = 4 << 20;
  const check_result r = check(*p, request);
  EXPECT_FALSE(r.complete);
  EXPECT_EQ(r.why, "memory limit reached");
  EXPECT_EQ(r.overall(), verdict::undecided);
  for (const property_result& one : r.properties) EXPECT_EQ(one.is, verdict::undecided) << one.name;
}

TEST(Limits, AnInterruptionEndsInUndecided) {
  auto p = from_catalog("am97-chain-cc", 5, 2);
  const std::atomic<bool> interrupted{true};
  run_limits limits;
  limits.interrupted = &interrupted;
  const exploration e = explore(*p, {}, limits);
  EXPECT_FALSE(e.complete);
  EXPECT_EQ(e.why, "interrupted");
}

}  // namespace
}  // namespace kgate::lab
