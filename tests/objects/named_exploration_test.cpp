// SPDX-License-Identifier: Apache-2.0
/// Every interleaving of a few operations on the object that gives out names itself. Broken rule by rule, it is caught.

#include "lab/checker/audit/audit.hpp"
#include "named_explored.hpp"
#include "resilient_explored.hpp"

namespace kgate::lab {
namespace {

constexpr std::uint64_t gigabyte = std::uint64_t{1} << 30;

TEST(NamedExplored, TwoProcessesTwoOperationsEach) {
  EXPECT_GT((expect_named<pair>(2, 2, 2).states), 10'000U);
  expect_named<single>(2, 2, 2);
}

TEST(NamedExplored, ThreeProcessesOneOperationEach) { expect_named<tiny>(3, 3, 1); }

TEST(NamedExplored, AnnouncedAtOnceTwoProcessesTwoOperationsEach) {
  expect_named<pair, named_announced_rules>(2, 2, 2);
}

TEST(NamedExplored, ThreeProcessesTwoAtATime) {
  expect_named<pair>(3, 2, 1);
  expect_named<tiny, named_announced_rules>(3, 2, 1);
}

TEST(NamedExplored, TryOutsideWithBlocksOfTheirOwn) {
  expect_building<pair, building_rules<2>>(2, 1, 2);
  expect_building<tiny, building_rules<2>>(2, 2, 2);
  expect_building<tiny, building_rules<1>>(3, 2, 1);
}
TEST(NamedExplored, ReadBesideThoseWhoChange) {
  expect_building<pair_read_by<1>, building_rules<2>>(2, 1, 2);  // the reader keeps its copy
  expect_building<pair_read_by<1>, building_rules<1>>(2, 2, 2);  // or has nowhere to
  expect_building<pair_read_by<2>, building_rules<3>>(3, 1, 1);
}

/// Crashes as exemptions from fairness. Inside no process waits for another.
TEST(NamedExplored, EveryOperationEndsThoughTheOtherStalls) {
  program p(make_model<named_operations<pair>>(2, 2), 2, 2, {.passages = 1, .wrong = {}});
  check_request request;
  request.properties = {"starvation-free"};
  request.crashes = 1;
  request.limits.memory_max = gigabyte;
  const check_result r = check(p, request);
  ASSERT_TRUE(r.complete);
  EXPECT_EQ(r.properties.at(0).is, verdict::holds);
}

/// A process that waits for a name may be unlucky for ever, but not all are: unless as many stall as there are names.
TEST(NamedExplored, SomebodyAlwaysEndsThoughOneStallsForEver) {
  EXPECT_EQ((ends_despite<tiny, named_operations<tiny>>(1, 2 * gigabyte, "deadlock-free")), verdict::holds);
  EXPECT_EQ((ends_despite<tiny, named_operations<tiny>>(2, 2 * gigabyte, "deadlock-free")), verdict::violated);
}

/// That nothing is forgotten that matters later, in any of the ways operations are explored here.
template <class Operations>
std::string audited(int N, int k) {
  program p(make_model<Operations>(N, k), N, k, {.passages = 2, .wrong = {}});
  return audit(p, {.seed = 3, .walks = 50, .steps = 200}).difference;
}

TEST(Exploration, AgreesWithWhatTheTextsReallyDo) {
  EXPECT_EQ(audited<wait_free_operations<pair>>(3, 3), "");
  EXPECT_EQ(audited<named_operations<pair>>(2, 2), "");
  EXPECT_EQ(audited<named_operations<pair>>(3, 2), "");
  EXPECT_EQ((audited<building_operations<pair, building_rules<2>>>(3, 2)), "");
  EXPECT_EQ((audited<building_operations<pair_read_by<1>, building_rules<1>>>(2, 1)), "");
  EXPECT_EQ((audited<resilient_operations<tiny, one_word_names>>(2, 2)), "");
  EXPECT_EQ((audited<resilient_operations<tiny, one_word_names>>(3, 2)), "");
  EXPECT_EQ((audited<resilient_operations<tiny, papers_names>>(3, 2)), "");
  EXPECT_EQ((audited<resilient_operations<tiny, slots_names>>(3, 2)), "");
}

struct named_without_validation : named_announced_rules {
  static constexpr bool validates = false;
};
struct named_without_toggles : named_rules {
  static constexpr bool compares_toggles = false;
};
struct named_without_tag : named_rules {
  static constexpr bool tags = false;
};
struct named_without_last_block : named_rules {
  static constexpr std::size_t blocks_more = 0;
};
struct keeping_too_long : named_rules {
  static constexpr bool compares_versions = false;
};

struct reading_torn : building_rules<2> {
  static constexpr bool validates_reads = false;
};
struct building_without_toggles : building_rules<1> {
  static constexpr bool compares_toggles = false;
};
struct building_without_tag : building_rules<2> {
  static constexpr bool tags = false;
};
struct building_too_long : building_rules<2> {
  static constexpr bool compares_versions = false;
};

TEST(BuildingMutant, IsNotLinearizable) {
  EXPECT_FALSE((explored<pair_read_by<1>, building_operations<pair_read_by<1>, reading_torn>>(2, 1, 2).linearizable));
  EXPECT_FALSE((explored<pair, building_operations<pair, building_without_toggles>>(2, 2, 2).linearizable));
  EXPECT_FALSE((explored<pair, building_operations<pair, building_without_tag>>(2, 1, 3).linearizable));
  EXPECT_FALSE((explored<pair, building_operations<pair, building_too_long>>(2, 1, 2).linearizable));
}

template <class Rules>
class NamedMutant : public testing::Test {};
using named_broken = testing::Types<named_without_validation, named_without_toggles, named_without_tag,
                                    named_without_last_block, keeping_too_long>;
TYPED_TEST_SUITE(NamedMutant, named_broken);

TYPED_TEST(NamedMutant, IsNotLinearizable) {
  const operations_result r = explored<pair, named_operations<pair, TypeParam>>(2, 2, 2);
  EXPECT_FALSE(r.linearizable);
  EXPECT_FALSE(r.schedule.empty());
  EXPECT_LT(r.schedule.size(), 80U);
}

}  // namespace
}  // namespace kgate::lab
