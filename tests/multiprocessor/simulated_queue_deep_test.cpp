// SPDX-License-Identifier: Apache-2.0
// The simulated experiment at the paper's size and up to thousands of processors: what docs/experiments.md says came out.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>

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

TEST(SimulatedQueueDeep, GrowsAsTheoremsSayUpTo4096Processors) {
  for (const queue_figure figure : {queue_figure::fig10, queue_figure::fig11}) {
    auto of = scale(figure);
    ASSERT_EQ(of.size(), 11u);  // Herlihy's object only on the smaller machine
    const auto remote = [&](const char* id, int processors) { return of[{id, processors}].remote; };
    const auto time = [&](const char* id) { return of[{id, 4096}].microseconds; };
    // Nested fast paths cost what the contention is: everybody is there, and 64 times as many come.
    for (const char* id : {"k-1", "k-4"}) EXPECT_GT(remote(id, 4096), 30 * remote(id, 64)) << id;
    // The tree has six levels more, and the queue lock none at all.
    EXPECT_LT(remote("tree-16", 4096), 4 * remote("tree-16", 64));
    EXPECT_LT(remote("mcs", 4096), 1.2 * remote("mcs", 64));
    // Larger k shortens the chain in front.
    EXPECT_LT(8 * time("k-16"), time("k-1"));
    EXPECT_LT(time("tree-16"), time("k-16"));
  }
}

/// What the paper's seven observations come out as, with its number of operations, its quantum, all counts and all curves.
std::map<std::string, answer> answers(queue_figure figure) {
  const queue_curves all = run_simulated_queue(paper_request(figure));
  for (const queue_curve& c : all.curves) EXPECT_EQ(c.points.size(), 6u) << c.id;
  std::map<std::string, answer> by_id;
  for (const queue_observation& o : observe(all)) by_id[o.id] = o.holds;
  return by_id;
}

TEST(SimulatedQueueDeep, Figure10AtThePapersSize) {
  EXPECT_EQ(answers(queue_figure::fig10), (std::map<std::string, answer>{{"mcs-collapses", answer::yes},
                                                                        {"herlihy-degrades", answer::yes},
                                                                        {"assignment-wins", answer::yes},
                                                                        {"larger-k", answer::no},
                                                                        {"full-worse", answer::yes},
                                                                        {"one-beats-mcs", answer::yes},
                                                                        {"copying", answer::yes}}));
}

TEST(SimulatedQueueDeep, Figure11AtThePapersSize) {
  EXPECT_EQ(answers(queue_figure::fig11), (std::map<std::string, answer>{{"mcs-collapses", answer::yes},
                                                                        {"herlihy-degrades", answer::yes},
                                                                        {"assignment-wins", answer::yes},
                                                                        {"larger-k", answer::yes},
                                                                        {"full-worse", answer::yes},
                                                                        {"one-beats-mcs", answer::yes},
                                                                        {"copying", answer::yes}}));
}

}  // namespace
}  // namespace kgate::lab
