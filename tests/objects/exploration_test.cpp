// SPDX-License-Identifier: Apache-2.0
/// Every interleaving of a few operations on the wait-free object: linearizable, and never more steps than the bound,
/// whichever process stalls wherever. Broken rule by rule, it is caught.

#include <gtest/gtest.h>

#include "explored_objects.hpp"
#include "lab/checker/properties/check.hpp"

namespace kgate::lab {
namespace {

template <class T, class Rules = herlihy93_rules>
operations_result holds(int N, int each) {
  const operations_result r = explored<T, wait_free_operations<T, Rules>>(N, N, each);
  EXPECT_TRUE(r.complete);
  EXPECT_TRUE(r.linearizable) << r.why;
  EXPECT_FALSE(r.waited);
  EXPECT_LE(r.own_steps_max, (own_steps_bound<T, Rules>(N)));
  return r;
}

TEST(WaitFreeExplored, TwoProcessesTwoOperationsEach) {
  const operations_result r = holds<pair>(2, 2);
  EXPECT_EQ(r.own_steps_max, 58);  // three attempts, the last of them found its result
  EXPECT_GT(r.states, 10'000U);
  holds<single>(2, 2);
}

TEST(WaitFreeExplored, ThreeProcessesOneOperationEach) {
  holds<pair>(3, 1);
  holds<single>(3, 1);
}

TEST(WaitFreeExplored, AnnouncedAtOnceTwoProcessesTwoOperationsEach) {
  const operations_result r = holds<pair, announced_rules>(2, 2);
  EXPECT_EQ(r.own_steps_max, 47);  // two lost attempts and the last look
  holds<single, announced_rules>(2, 2);
}

TEST(WaitFreeExplored, AnnouncedAtOnceThreeProcessesOneOperationEach) {
  holds<pair, announced_rules>(3, 1);
  holds<single, announced_rules>(3, 1);
}

/// The other engine of the laboratory, with crashes as exemptions from fairness: all but one may stop for ever,
/// anywhere.
TEST(WaitFreeExplored, EveryOperationEndsThoughAllOthersStall) {
  for (const int N : {2, 3}) {
    program p(make_model<wait_free_operations<pair>>(N, N), N, N, {.passages = 1, .wrong = {}});
    check_request request;
    request.properties = {"starvation-free"};
    request.crashes = N - 1;
    request.limits.memory_max = std::uint64_t{1} << 30;
    const check_result r = check(p, request);
    ASSERT_TRUE(r.complete);
    EXPECT_EQ(r.properties.at(0).is, verdict::holds) << N;
  }
}

struct without_validation : announced_rules {
  static constexpr bool validates = false;
};
struct without_toggles : herlihy93_rules {
  static constexpr bool compares_toggles = false;
};
struct without_tag : herlihy93_rules {
  static constexpr bool tags = false;
};
struct without_last_block : herlihy93_rules {
  static constexpr std::size_t blocks_more = 0;
};

template <class Rules>
class WaitFreeMutant : public testing::Test {};
using broken = testing::Types<without_validation, without_toggles, without_tag, without_last_block>;
TYPED_TEST_SUITE(WaitFreeMutant, broken);

TYPED_TEST(WaitFreeMutant, IsNotLinearizable) {
  const operations_result r = explored<pair, wait_free_operations<pair, TypeParam>>(2, 2, 2);
  EXPECT_FALSE(r.linearizable);
  EXPECT_FALSE(r.why.empty());
  EXPECT_FALSE(r.schedule.empty());
  EXPECT_LT(r.schedule.size(), 60U);
}

template <class Rules>
operations_result searched(int N, int each, std::uint64_t walks, std::uint32_t seed = 1) {
  program p(make_model<wait_free_operations<pair, Rules>>(N, N), N, N, {.passages = each, .wrong = {}});
  const operations_result r = search_operations(p, {specification<pair>(), walks, seed});
  EXPECT_EQ(is_explicable(p, specification<pair>(), r.schedule), r.linearizable);
  return r;
}

TYPED_TEST(WaitFreeMutant, IsFoundByRandomRunsOfFourProcesses) {
  const operations_result r = searched<TypeParam>(4, 2, 20'000);
  EXPECT_FALSE(r.linearizable);
  EXPECT_FALSE(r.why.empty());
  EXPECT_EQ(r.schedule, searched<TypeParam>(4, 2, 20'000).schedule) << "the same seed makes the same runs";
}

TEST(RandomRuns, FindNothingWrongWithEightProcesses) {
  const operations_result r = searched<herlihy93_rules>(8, 1, 100);
  EXPECT_TRUE(r.linearizable);
  EXPECT_EQ(r.histories, 100U);
  EXPECT_FALSE(r.complete);
}

TEST(Exploration, RefusesWhatItCannotHold) {
  program endless(make_model<wait_free_operations<pair>>(2, 2), 2, 2, {.passages = 0, .wrong = {}});
  EXPECT_THROW(explore_operations(endless, {specification<pair>(), 10, {}}), std::invalid_argument);
  program many(make_model<wait_free_operations<pair>>(3, 3), 3, 3, {.passages = 3, .wrong = {}});
  EXPECT_THROW(explore_operations(many, {specification<pair>(), 10, {}}), std::invalid_argument);
}

TEST(Exploration, SaysWhenItDidNotSeeAll) {
  const operations_result r = explored<pair, wait_free_operations<pair>>(2, 2, 2, 1000);
  EXPECT_FALSE(r.complete);
  EXPECT_TRUE(r.linearizable);
}

/// Steps on own variables are taken at once: an operation that ends with one then ends as early as it can, which only
/// makes its history harder to explain. Here all steps are taken one by one, and nothing else comes out.
template <class Rules>
void same_verdict_step_by_step() {
  program p(make_model<wait_free_operations<pair, Rules>>(2, 2), 2, 2, {.passages = 2, .wrong = {}});
  const operations_result all = explore_operations(p, {specification<pair>(), 20'000'000, {}});
  const operations_result fewer = explored<pair, wait_free_operations<pair, Rules>>(2, 2, 2);
  EXPECT_GT(all.states, fewer.states);
  EXPECT_EQ(all.linearizable, fewer.linearizable);
  EXPECT_EQ(all.complete, fewer.complete);
  if (fewer.complete) {
    EXPECT_GE(all.histories, fewer.histories);
    EXPECT_EQ(all.own_steps_max, fewer.own_steps_max);
  }
}

TEST(Exploration, OwnStepsAtOnceChangeNoVerdict) {
  same_verdict_step_by_step<herlihy93_rules>();
  same_verdict_step_by_step<without_validation>();
  same_verdict_step_by_step<without_tag>();
}

}  // namespace
}  // namespace kgate::lab
