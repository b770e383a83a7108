// SPDX-License-Identifier: Apache-2.0
// Tickets that grow for ever, reduced to finitely many states: the reduction is compared with the text, wrong ones are
// noticed, and the verdicts are those of check() where that can decide.

#include "lab/checker/properties/shifted_search.hpp"

#include <gtest/gtest.h>

#include "checker/checked_programs.hpp"
#include "lab/models/models.hpp"
#include "lab/models/ticket_rules.hpp"

namespace kgate::lab {
namespace {

check_result shifted(const char* id, int N, int k, int crashes, const ticket_rule& rule) {
  shifted_request request;
  request.of = {id, N, k, 0, {}, false};
  request.properties = {"k-exclusion", "deadlock-free", "starvation-free"};
  request.crashes = crashes;
  request.rule = rule;
  request.limits.memory_max = std::uint64_t{2} << 30;
  return check_shifted(make_model(find_algorithm(id), N, k), request);
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
        trial{"mcs", 3, 1, 0}}) {
    const check_result mine = shifted(id, N, k, crashes, ticket_rule{});
    program p(make_model(find_algorithm(id), N, k), N, k, {});
    check_request request;
    request.of = mine.request.of;
    request.properties = mine.request.properties;
    request.crashes = crashes;
    const check_result other = check(p, request);
    EXPECT_EQ(mine.states, other.states) << id;
    EXPECT_EQ(mine.transitions, other.transitions) << id;
    for (std::size_t i = 0; i < mine.properties.size(); ++i)
      EXPECT_EQ(mine.properties[i].is, other.properties[i].is) << id << ' ' << mine.properties[i].name;
  }
}

}  // namespace
}  // namespace kgate::lab
