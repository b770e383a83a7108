// SPDX-License-Identifier: Apache-2.0
// The experiment on the simulated multiprocessor: what its model makes inevitable, and how its figures are judged.
#include "lab/experiments/simulated_queue.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <nlohmann/json.hpp>
#include <string>

#include "lab/experiments/queue_observations.hpp"

namespace kgate::lab {
namespace {

simulated_outcome simulate(queue_contender what, int processes, queue_figure figure = queue_figure::fig10,
                           std::uint64_t seed = 1) {
  const bool bus = figure == queue_figure::fig10;
  return simulate_queue({.figure = figure,
                         .what = what,
                         .costs = with_quantum(bus ? sequent_like : bbn_like, 10'000'000),
                         .processors = 4,
                         .processes = processes,
                         .operations = 1'500,
                         .seed = seed});
}

TEST(SimulatedQueue, PreemptionHurtsTheQueueLock) { EXPECT_GT(simulate({}, 12).seconds, 3 * simulate({}, 4).seconds); }

TEST(SimulatedQueue, ResilienceIsHurtLess) {
  for (const queue_figure figure : {queue_figure::fig10, queue_figure::fig11})
    EXPECT_LT(2 * simulate({.k = 4}, 12, figure).seconds, simulate({}, 12, figure).seconds);
}

TEST(SimulatedQueue, HerlihysObjectPaysForEveryProcessItWasMadeFor) {
  const simulated_outcome small = simulate({.herlihy = 20}, 8), large = simulate({.herlihy = 80}, 8);
  EXPECT_GT(large.seconds, 2 * small.seconds);
  EXPECT_GT(large.remote, 2 * small.remote);
}

TEST(SimulatedQueue, TheSeedDeterminesARun) {
  const simulated_outcome a = simulate({.k = 2}, 12, queue_figure::fig11),
                          b = simulate({.k = 2}, 12, queue_figure::fig11);
  EXPECT_EQ(a.seconds, b.seconds);
  EXPECT_EQ(a.accesses, b.accesses);
  EXPECT_NE(a.accesses, simulate({.k = 2}, 12, queue_figure::fig11, 2).accesses);
}

TEST(SimulatedQueue, GivesEveryCurveAtEveryCount) {
  simulated_queue_request request = paper_request(queue_figure::fig10);
  EXPECT_EQ(request.processors, 10);
  EXPECT_EQ(request.processes.front(), 10);
  EXPECT_EQ(request.processes.back(), 40);
  EXPECT_EQ(paper_request(queue_figure::fig11).processes.back(), 160);
  request.operations = 80;
  request.processes = {4, 8};
  request.processors = 4;
  request.repetitions = 2;
  const queue_curves all = run_simulated_queue(request);
  std::vector<std::string> ids;
  for (const queue_curve& c : all.curves) {
    ids.push_back(c.id);
    ASSERT_EQ(c.points.size(), 4u) << c.id;
    for (const queue_point& p : c.points) EXPECT_GT(p.seconds, 0);
  }
  EXPECT_EQ(ids, (std::vector<std::string>{"mcs", "herlihy-100", "herlihy-200", "k-1", "k-2", "k-4", "k-8", "k-16"}));
  const nlohmann::json j = to_json(all);
  EXPECT_EQ(j["curves"].size(), 8u);
  EXPECT_EQ(j["large_queue"]["places"], large_queue_capacity);
  ASSERT_EQ(j["large_queue"]["curves"].size(), 5u);
  for (const nlohmann::json& c : j["large_queue"]["curves"]) EXPECT_EQ(c["points"].size(), 4u);
}

TEST(SimulatedQueue, TheLargeQueueIsMeasuredAtThreeCounts) {
  EXPECT_EQ(counts_of_large({40, 10, 20, 30, 15, 25}), (std::vector<int>{10, 25, 40}));
  EXPECT_EQ(counts_of_large({8, 4}), (std::vector<int>{4, 8}));
}

TEST(SimulatedQueue, StopsWhenInterrupted) {
  std::atomic<bool> stop{false};
  simulated_queue_request request = paper_request(queue_figure::fig10);
  request.interrupted = &stop;
  int reports = 0;
  request.report = [&](const std::string&, int, int all) {
    EXPECT_EQ(all, 8 * 6 + 5 * 3);
    stop = ++reports > 20;
  };
  std::size_t points = 0;
  for (const queue_curve& c : run_simulated_queue(request).curves) points += c.points.size();
  EXPECT_LT(points, 3u);  // a run that was stopped is no point
}

/// Curves as the paper describes them, with two processors.
queue_curves as_published(queue_figure figure) {
  queue_curves all{.figure = figure, .processors = 2, .curves = {}, .large = {}};
  const auto add = [&](const std::string& id, double calm, double crowded) {
    all.curves.push_back({id, id, 0, 0, {{2, 1, 1, calm}, {4, 1, 1, (calm + crowded) / 2}, {8, 1, 1, crowded}}});
  };
  const queue_setting setting = setting_of(figure);
  add("mcs", 1, 90);
  add("herlihy-" + std::to_string(setting.herlihy[0]), 20, 22);
  add("herlihy-" + std::to_string(setting.herlihy[1]), 30, 33);
  add("k-1", figure == queue_figure::fig10 ? 2 : 1, 12);
  for (const int k : {2, 4, 8, 16}) add("k-" + std::to_string(k), 3, 10 - k / 4.0);
  for (queue_curve& c : all.curves) {
    if (c.id.substr(0, 2) != "k-") continue;
    c.k = std::stoi(c.id.substr(2));
    all.large.push_back(c);
    for (queue_point& p : all.large.back().points) p.seconds *= c.k == 1 ? 1.2 : 5;
  }
  return all;
}

answer answer_to(const std::string& id, const queue_curves& all, const queue_curves* other = nullptr) {
  for (const queue_observation& o : observe(all, other))
    if (o.id == id) return o.holds;
  ADD_FAILURE() << id;
  return answer::unknown;
}

TEST(Observations, HoldWhereThePaperSawThem) {
  const queue_curves ten = as_published(queue_figure::fig10), eleven = as_published(queue_figure::fig11);
  EXPECT_EQ(observe(ten, &eleven).size(), 7u);
  for (const queue_observation& o : observe(ten, &eleven))
    EXPECT_EQ(o.holds, answer::yes) << o.id << ": " << o.evidence;
  EXPECT_EQ(answer_to("copying", eleven, &ten), answer::yes);
}

TEST(Observations, ComeOutNoWhereTheFiguresSaySo) {
  const auto change = [](const std::string& id, double factor, int from) {
    queue_curves all = as_published(queue_figure::fig10);
    for (queue_curve& c : all.curves)
      if (c.id == id)
        for (queue_point& p : c.points)
          if (p.processes >= from) p.seconds *= factor;
    return all;
  };
  EXPECT_EQ(answer_to("mcs-collapses", change("mcs", 0.01, 4)), answer::no);
  EXPECT_EQ(answer_to("herlihy-degrades", change("herlihy-200", 0.1, 8)), answer::no);
  EXPECT_EQ(answer_to("assignment-wins", change("herlihy-100", 0.1, 2)), answer::no);
  EXPECT_EQ(answer_to("larger-k", change("k-16", 10, 8)), answer::no);
  EXPECT_EQ(answer_to("full-worse", change("herlihy-200", 0.01, 2)), answer::no);
  EXPECT_EQ(answer_to("one-beats-mcs", change("k-1", 100, 2)), answer::no);
  queue_curves ten = as_published(queue_figure::fig10);
  for (queue_point& p : ten.large[0].points) p.seconds *= 10;
  EXPECT_EQ(answer_to("copying", ten), answer::no);
}

TEST(Observations, AreUnknownWithoutFigures) {
  for (const queue_observation& o :
       observe({.figure = queue_figure::fig10, .processors = 2, .curves = {}, .large = {}})) {
    EXPECT_EQ(o.holds, answer::unknown) << o.id;
    EXPECT_FALSE(o.evidence.empty());
  }
  queue_curves small = as_published(queue_figure::fig10);
  small.large.clear();
  EXPECT_EQ(answer_to("copying", small), answer::unknown);
}

TEST(Observations, TakeTheMedianOfRepetitions) {
  queue_curve c;
  for (const double s : {9.0, 1.0, 2.0}) c.points.push_back({4, 10, 10, s});
  EXPECT_EQ(median_seconds(c, 4), 2.0);
  c.points.push_back({4, 10, 5, 2.0});  // half of it done: counts as 4 s
  EXPECT_EQ(median_seconds(c, 4), 3.0);
  EXPECT_EQ(median_seconds(c, 5), std::nullopt);
}

}  // namespace
}  // namespace kgate::lab
