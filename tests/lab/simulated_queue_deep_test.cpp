// SPDX-License-Identifier: Apache-2.0
// The simulated experiment at the paper's size and up to thousands of processors: what docs/experiments.md says came
// out.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "lab/experiments/queue_observations.hpp"
#include "lab/experiments/simulated_queue.hpp"

namespace kgate::lab {
namespace {

/// The costs of every curve by the number of processors.
std::map<std::pair<std::string, int>, scale_point> scale(queue_figure figure) {
  std::map<std::pair<std::string, int>, scale_point> by_curve;
  for (const scale_point& p : run_queue_scale(paper_request(figure), {64, 4096})) by_curve[{p.id, p.processors}] = p;
  return by_curve;
}

/// A row of the document's table: microseconds and remote references an operation on 64 and on 4096 processors.
struct table_row {
  const char* id;
  long microseconds_64, remote_64, microseconds_4096, remote_4096;
};
const std::map<queue_figure, std::vector<table_row>> document{{queue_figure::fig10,
                                                               {{"mcs", 157, 9, 102, 8},
                                                                {"k-1", 53, 25, 9810, 3046},
                                                                {"k-4", 41, 82, 2730, 4004},
                                                                {"k-16", 30, 198, 691, 4105},
                                                                {"tree-16", 26, 286, 34, 704}}},
                                                              {queue_figure::fig11,
                                                               {{"mcs", 355, 6, 179, 4},
                                                                {"k-1", 823, 91, 65154, 6151},
                                                                {"k-4", 338, 173, 16348, 6189},
                                                                {"k-16", 209, 398, 4100, 6278},
                                                                {"tree-16", 224, 535, 221, 1332}}}};

TEST(SimulatedQueueDeep, GrowsAsTheoremsSayUpTo4096Processors) {
  for (const queue_figure figure : {queue_figure::fig10, queue_figure::fig11}) {
    auto of = scale(figure);
    ASSERT_EQ(of.size(), 11u);  // Herlihy's object only on the smaller machine
    const auto remote = [&](const char* id, int processors) { return of[{id, processors}].remote; };
    const auto time = [&](const char* id) { return of[{id, 4096}].microseconds; };
    // Nested fast paths cost what the contention is: all are there, and 64 times as many come.
    for (const char* id : {"k-1", "k-4"}) EXPECT_GT(remote(id, 4096), 30 * remote(id, 64)) << id;
    // The tree has six levels more, and the queue lock none at all.
    EXPECT_LT(remote("tree-16", 4096), 4 * remote("tree-16", 64));
    EXPECT_LT(remote("mcs", 4096), 1.2 * remote("mcs", 64));
    // Larger k shortens the chain in front.
    EXPECT_LT(8 * time("k-16"), time("k-1"));
    EXPECT_LT(time("tree-16"), time("k-16"));
    for (const table_row& row : document.at(figure)) {
      EXPECT_EQ(std::lround(of[{row.id, 64}].microseconds), row.microseconds_64) << row.id;
      EXPECT_EQ(std::lround(of[{row.id, 64}].remote), row.remote_64) << row.id;
      EXPECT_EQ(std::lround(of[{row.id, 4096}].microseconds), row.microseconds_4096) << row.id;
      EXPECT_EQ(std::lround(of[{row.id, 4096}].remote), row.remote_4096) << row.id;
    }
  }
}

/// What the paper's seven observations come out as, with its number of operations, its quantum, all counts and all
/// curves. Of some the document gives the figures.
std::map<std::string, answer> answers(queue_figure figure, const std::map<std::string, std::string>& document_says) {
  const queue_curves all = run_simulated_queue(paper_request(figure));
  for (const queue_curve& c : all.curves) EXPECT_EQ(c.points.size(), 6u) << c.id;
  std::map<std::string, answer> by_id;
  for (const queue_observation& o : observe(all)) {
    by_id[o.id] = o.holds;
    if (const auto said = document_says.find(o.id); said != document_says.end()) {
      EXPECT_EQ(o.evidence, said->second) << o.id;
    }
  }
  return by_id;
}

TEST(SimulatedQueueDeep, Figure10AtThePapersSize) {
  EXPECT_EQ(
      answers(queue_figure::fig10,
              {{"larger-k", "k = 16 takes 1.56 times as long as k = 1 with 10 processes, 1.25 times with 40"},
               {"copying", "k = 1 takes 0.88 times as long as the best larger k with 16 places, 0.48 times with 256"}}),
      (std::map<std::string, answer>{{"mcs-collapses", answer::yes},
                                     {"herlihy-degrades", answer::yes},
                                     {"assignment-wins", answer::yes},
                                     {"larger-k", answer::no},
                                     {"full-worse", answer::yes},
                                     {"one-beats-mcs", answer::yes},
                                     {"copying", answer::yes}}));
}

TEST(SimulatedQueueDeep, Figure11AtThePapersSize) {
  EXPECT_EQ(
      answers(queue_figure::fig11,
              {{"larger-k", "k = 16 takes 1.17 times as long as k = 1 with 40 processes, 0.52 times with 160"},
               {"copying", "k = 1 takes 1.22 times as long as the best larger k with 16 places, 0.50 times with 256"}}),
      (std::map<std::string, answer>{{"mcs-collapses", answer::yes},
                                     {"herlihy-degrades", answer::yes},
                                     {"assignment-wins", answer::yes},
                                     {"larger-k", answer::yes},
                                     {"full-worse", answer::yes},
                                     {"one-beats-mcs", answer::yes},
                                     {"copying", answer::yes}}));
}

}  // namespace
}  // namespace kgate::lab
