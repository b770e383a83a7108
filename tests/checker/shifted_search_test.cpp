// SPDX-License-Identifier: Apache-2.0
// Tickets that grow for ever, reduced to finitely many states: the reduction is compared with the text, wrong ones are
// noticed, and the verdicts are those of check() where that can decide.

#include "lab/checker/properties/shifted_search.hpp"

#include <gtest/gtest.h>

#include <set>
#include <stdexcept>

#include "checker/checked_programs.hpp"
#include "lab/models/models.hpp"
#include "lab/models/ticket_rules.hpp"

namespace kgate::lab {
namespace {

const std::vector<std::string> of_order{"bounded-exit",     "k-fcfs",          "fife",
                                        "enabled-in-order", "bounded-waiting", "bounded-overtaking"};

check_result shifted(const char* id, int N, int k, int crashes, const ticket_rule& rule,
                     const std::vector<std::string>& properties = {"k-exclusion", "deadlock-free", "starvation-free"},
                     const mutations& wrong = {}, std::uint64_t memory_max = std::uint64_t{2} << 30) {
  shifted_request request;
  request.of = {id, N, k, 0, wrong, false};
  request.properties = properties;
  request.crashes = crashes;
  request.rule = rule;
  request.limits.memory_max = memory_max;
  try {
    return check_shifted(make_model(find_algorithm(id), N, k), request);
  } catch (const text_error& e) {
    check_request all;
    all.properties = properties;
    return rules_broken(all, e.what());
  }
}

void expect_all_hold(const char* id, int N, int k, int crashes) {
  for (const property_result& one : shifted(id, N, k, crashes, *ticket_rule_of(id, N, k)).properties)
    EXPECT_EQ(one.is, verdict::holds) << id << ' ' << one.name << ": " << one.why;
}

TEST(ShiftedSearch, TicketsNeedNoLimitOnPassages) {
  expect_all_hold("danek10-bakery", 2, 1, 0);
  expect_all_hold("danek10-bakery", 3, 1, 0);
  expect_all_hold("danek10-kfcfs", 2, 1, 0);
  expect_all_hold("danek10-fife", 2, 1, 0);
  expect_all_hold("afek94-fife", 2, 1, 0);
  expect_all_hold("bakery", 2, 1, 0);
  expect_all_hold("ticket", 3, 1, 0);
  expect_all_hold("kgate", 2, 1, 0);
  expect_all_hold("choi11", 2, 1, 0);
  expect_all_hold("choi11-compact", 2, 1, 0);
}

TEST(ShiftedSearch, TheReductionIsThatOfTheTextInAllRunsOfAFewPassages) {
  for (const char* id : {"danek10-bakery", "danek10-kfcfs", "danek10-fife", "afek94-fife", "bakery", "ticket", "kgate",
                         "choi11", "choi11-linear", "choi11-compact", "choi11-amortized"})
    EXPECT_EQ(compare_with_reduced(make_model(find_algorithm(id), 2, 1), 2, 1, *ticket_rule_of(id, 2, 1), 3), "") << id;
  EXPECT_EQ(compare_with_reduced(make_model(find_algorithm("kgate"), 3, 2), 3, 2, *ticket_rule_of("kgate", 3, 2), 2),
            "");
}

const property_result& result_of(const check_result& r, const std::string& name) {
  for (const property_result& one : r.properties)
    if (one.name == name) return one;
  throw std::invalid_argument(name + " was not judged");
}

void expect_order(const char* id, int N, int k, const std::vector<std::string>& holds, long b) {
  const check_result r = shifted(id, N, k, 0, *ticket_rule_of(id, N, k), holds);
  for (const property_result& one : r.properties) {
    EXPECT_EQ(one.is, verdict::holds) << id << ' ' << one.name << ": " << one.why;
    if (one.name == "bounded-waiting") {
      EXPECT_EQ(one.figures.at(0).second, b) << id;
    }
  }
}

TEST(ShiftedSearch, TheOrderOfEnteringNeedsNoLimitOnPassages) {
  expect_order("danek10-kfcfs", 2, 1, {"k-fcfs", "bounded-exit"}, 0);
  expect_order("danek10-fife", 2, 1, {"k-fcfs", "fife"}, 0);
  expect_order("afek94-fife", 2, 1, {"k-fcfs", "fife"}, 0);
  expect_order("choi11", 2, 1, {"k-fcfs", "fife"}, 0);
  expect_order("kgate", 2, 1, {"k-fcfs", "fife", "bounded-waiting"}, 0);
  expect_order("ticket", 3, 1, {"k-fcfs", "fife", "bounded-waiting"}, 0);
}

/// Of each text with one statement left out: what breaks within two passages breaks without limit on passages.
TEST(ShiftedSearch, WhatBreaksWithinTwoPassagesIsNotSaidToHold) {
  int broken = 0;
  for (const char* id : {"danek10-kfcfs", "danek10-bakery", "bakery", "ticket"}) {
    program whole(make_model(find_algorithm(id), 2, 1), 2, 1, {.passages = 1, .wrong = {}});
    explore(whole, {}, {});
    std::set<std::string> labels;
    for (local_id s = 0; s < whole.locals(0); ++s) labels.insert(whole.local(0, s).label);
    for (const std::string& label : labels) {
      if (label.empty()) continue;
      const mutations wrong{mutation::parse("drop:" + label)};
      program p(make_model(find_algorithm(id), 2, 1), 2, 1, {.passages = 2, .wrong = wrong});
      check_request request;
      request.of = {id, 2, 1, 2, wrong, false};
      request.properties = of_order;
      const check_result limited = check(p, request);
      const check_result without = shifted(id, 2, 1, 0, *ticket_rule_of(id, 2, 1), of_order, wrong, 16 << 20);
      for (const std::string& name : of_order) {
        if (result_of(limited, name).is != verdict::violated) continue;
        program again(make_model(find_algorithm(id), 2, 1), 2, 1, {.passages = 0, .wrong = wrong});
        trace longer = *result_of(limited, name).counterexample;
        longer.of.passages = 0;
        // A process that is enabled because no other has a passage left to keep it out is not enabled without limit.
        if (name == "enabled-in-order" && !validate(longer, again).empty()) continue;
        ++broken;
        const property_result& mine = result_of(without, name);
        EXPECT_NE(mine.is, verdict::holds) << id << " without " << label << ": " << mine.name;
        if (!mine.counterexample) continue;
        EXPECT_EQ(validate(*mine.counterexample, again), "") << id << " without " << label << ": " << mine.name;
      }
    }
  }
  EXPECT_GT(broken, 10);
}

TEST(ShiftedSearch, LabelsThatGrowForEverStarveAWaiter) {
  const check_result r = shifted("afek94-as-printed", 2, 1, 0, *ticket_rule_of("afek94-as-printed", 2, 1));
  EXPECT_EQ(r.properties.at(0).is, verdict::violated);
  program p(make_model(find_algorithm("afek94-as-printed"), 2, 1), 2, 1, {});
  EXPECT_EQ(validate(*r.properties.at(0).counterexample, p), "");
  EXPECT_EQ(r.properties.at(1).is, verdict::holds);
  EXPECT_EQ(r.properties.at(2).is, verdict::violated);
}

TEST(ShiftedSearch, AWindowThatIsTooSmallIsNoticed) {
  ticket_rule wrong = *ticket_rule_of("danek10-kfcfs", 2, 1);
  wrong.window = 0;  // all tickets alike
  EXPECT_NE(compare_with_reduced(make_model(find_algorithm("danek10-kfcfs"), 2, 1), 2, 1, wrong, 3), "");
  for (const property_result& one : shifted("danek10-kfcfs", 2, 1, 0, wrong).properties) {
    EXPECT_EQ(one.is, verdict::undecided);
    EXPECT_NE(one.why.find("told apart"), std::string::npos) << one.why;
  }
}

TEST(ShiftedSearch, TheTextIsAudited) {
  shifted_request request;
  request.of = {"toy", 3, 3, 0, {}, false};
  request.properties = {"k-exclusion"};
  const check_result wrong = check_shifted(make_model<toys::forgetful<checker_machine>>(3, 3), request);
  EXPECT_EQ(wrong.properties.at(0).is, verdict::undecided);
  EXPECT_NE(wrong.properties.at(0).why.find("forgets what it uses"), std::string::npos) << wrong.properties.at(0).why;
  const auto audited = [&](std::uint64_t seed) {
    request.of = {"bakery", 2, 1, 0, {}, false};
    request.rule = *ticket_rule_of("bakery", 2, 1);
    request.seed = seed;
    return check_shifted(make_model(find_algorithm("bakery"), 2, 1), request).audit;
  };
  const audit_result one = audited(1), again = audited(1), other = audited(2);
  EXPECT_TRUE(one.made());
  EXPECT_EQ(one.difference, "");
  EXPECT_EQ(std::pair(one.accesses, one.steps), std::pair(again.accesses, again.steps));
  EXPECT_NE(std::pair(one.accesses, one.steps), std::pair(other.accesses, other.steps));
}

TEST(ShiftedSearch, ShiftingByOtherThanWholeRoundsIsNoticed) {
  ticket_rule wrong = *ticket_rule_of("choi11", 2, 1);
  wrong.array_size = 1;  // slots are confused
  EXPECT_NE(compare_with_reduced(make_model(find_algorithm("choi11"), 2, 1), 2, 1, wrong, 3), "");
}

TEST(ShiftedSearch, WhereNothingGrowsItAgreesWithCheck) {
  struct trial {
    const char* id;
    int N, k, crashes;
  };
  for (const auto& [id, N, k, crashes] :
       {trial{"fa-semaphore", 2, 1, 0}, trial{"fa-semaphore", 3, 2, 1}, trial{"flbb79-count", 3, 2, 1},
        trial{"am97-chain-cc", 3, 2, 1}, trial{"am97-chain-cc", 3, 2, 2}, trial{"peterson-k", 3, 2, 1},
        trial{"mcs", 3, 1, 0}, trial{"clh", 3, 1, 0}, trial{"burns-lynch", 3, 1, 0}, trial{"flbb79-tickets", 3, 2, 0},
        trial{"am97-queue", 3, 2, 0}}) {
    std::vector<std::string> all{"k-exclusion", "deadlock-free", "starvation-free"};
    all.insert(all.end(), of_order.begin(), of_order.end());
    const check_result mine = shifted(id, N, k, crashes, ticket_rule{}, all);
    program p(make_model(find_algorithm(id), N, k), N, k, {});
    check_request request;
    request.of = mine.request.of;
    request.properties = mine.request.properties;
    request.crashes = crashes;
    const check_result other = check(p, request);
    EXPECT_EQ(mine.states, other.states) << id;
    EXPECT_EQ(mine.transitions, other.transitions) << id;
    for (const property_result& one : mine.properties) {
      const property_result& same = result_of(other, one.name);
      EXPECT_EQ(one.is, same.is) << id << ' ' << one.name << ": " << one.why << same.why;
      if (one.name == "bounded-waiting" || one.name == "bounded-overtaking") {
        EXPECT_EQ(one.figures, same.figures) << id << ' ' << one.name;
      }
    }
  }
}

}  // namespace
}  // namespace kgate::lab
