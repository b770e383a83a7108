// SPDX-License-Identifier: Apache-2.0
/// The experiment of section 6 on this machine, small: that it gives what it promises, not how fast it is.

#include "lab/experiments/native_queue.hpp"

#include <gtest/gtest.h>

#include <set>

namespace {

using namespace kgate::lab;

std::set<std::string> ids(const queue_curves& c) {
  std::set<std::string> all;
  for (const queue_curve& curve : c.curves) all.insert(curve.id);
  return all;
}

TEST(NativeQueue, GivesEveryCurveOfBothFiguresWithRawPoints) {
  const std::set<std::string> figure10{"mcs", "herlihy-100", "herlihy-200", "k-1",   "k-2",
                                       "k-4", "k-8",         "k-16",        "mutex", "resilient-4"};
  const std::set<std::string> figure11{"mcs", "herlihy-200", "herlihy-400", "k-1", "k-2", "k-4", "k-8", "k-16"};
  int reports = 0;
  native_queue_request request;
  request.operations = 1001;
  request.processes = {1, 3};
  request.repetitions = 2;
  request.seconds_max = 10;
  request.report = [&](const std::string&, int done, int all) {
    EXPECT_EQ(done, reports++);
    EXPECT_EQ(all, 60);
  };
  const queue_curves ten = run_native_queue(request);
  EXPECT_EQ(ids(ten), figure10);
  EXPECT_EQ(reports, 60);
  EXPECT_GE(ten.processors, 1);
  ASSERT_EQ(ten.large.size(), 5U);  // k-assignment once more, with the large queue
  for (const queue_curve& c : ten.large) EXPECT_EQ(c.points.size(), 4U) << c.id;
  for (const queue_curve& c : ten.curves) {
    ASSERT_EQ(c.points.size(), 4U) << c.id;
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(c.points[i].processes, i < 2 ? 1 : 3);
      EXPECT_TRUE(c.points[i].finished()) << c.id;
      EXPECT_GT(c.points[i].seconds, 0);
    }
  }
  request.figure = queue_figure::fig11;
  request.peers = false;
  request.report = nullptr;
  EXPECT_EQ(ids(run_native_queue(request)), figure11);
}

TEST(NativeQueue, LeavesUndoneWhatTakesTooLong) {
  native_queue_request request;
  request.operations = 2'000'000'000;
  request.processes = {2};
  request.repetitions = 1;
  request.seconds_max = 0.02;
  for (const queue_curve& c : run_native_queue(request).curves) {
    ASSERT_EQ(c.points.size(), 1U);
    EXPECT_FALSE(c.points[0].finished());
    EXPECT_GT(c.points[0].done, 0) << c.id;
    EXPECT_GT(c.points[0].total_seconds(), c.points[0].seconds);
  }
}

TEST(NativeQueue, StopsWhenInterrupted) {
  const std::atomic<bool> at_once{true};
  native_queue_request request;
  request.interrupted = &at_once;
  for (const queue_curve& c : run_native_queue(request).curves) EXPECT_TRUE(c.points.empty());
}

}  // namespace
