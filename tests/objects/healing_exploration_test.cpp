// SPDX-License-Identifier: Apache-2.0
/// Every interleaving of operations beside a process that dies after its nth step, for every n: nothing is lost, and
/// the others end. Without one of the rules by which a name is healed, something is.

#include "healing_explored.hpp"

namespace kgate::lab {
namespace {

struct healing_announced : healing_rules {
  static constexpr bool tries_first = false;
};

TEST(HealingExplored, NothingIsLost) {
  nothing_is_lost<pair>(2, 1, 2, 0);
  nothing_is_lost<pair>(2, 1, 2, 1);
  nothing_is_lost<tiny>(2, 2, 1, 0);
}
TEST(HealingExplored, OfAnnouncedOperationsNothingIsLost) {
  nothing_is_lost<pair, healing_announced>(2, 1, 2, 0);
  nothing_is_lost<pair, healing_announced>(2, 1, 2, 1);
}
TEST(HealingExplored, WhoOnlyReadsSeesNothingTorn) { nothing_is_lost<pair_read_by<2>>(3, 1, 1, 0); }

TEST(HealingExplored, TheOthersEnd) {
  at_every_step<tiny, healing_rules>(2, 1, 2, 0, [&](const death& one) {
    EXPECT_EQ((others_end_beside<tiny>({one}, 2, 1, 2)), verdict::holds) << one.steps;
  });
}

/// The second dies too, perhaps while it heals what the first left.
TEST(HealingExplored, WhoDiesHealingIsHealed) {
  at_every_step<tiny, healing_rules>(3, 1, 1, 0, [&](const death& one) {
    for (int second = 0; second < 40; second += 3) {
      const operations_result r = explored_beside<tiny>({one, {1, 0, second}}, 3, 1, 1);
      ASSERT_TRUE(r.complete) << r.states;
      ASSERT_TRUE(r.linearizable) << one.steps << ", " << second << ": " << r.why;
    }
  });
}

// Each with the operation in which a death shows it, and a step before that.
struct takes_the_next_block : healing_rules {
  static constexpr int nth = 0, from = 0;
  static constexpr bool heals_from_own = false;
};
struct enters_unclean : healing_rules {
  static constexpr int nth = 1, from = 5;
  static constexpr bool cleans_spare = false;
};
struct leaves_announced : healing_announced {
  static constexpr int nth = 0, from = 0;
  static constexpr bool finishes_dead = false;
};

template <class Rules>
class HealingMutant : public testing::Test {};
using broken = testing::Types<takes_the_next_block, enters_unclean, leaves_announced>;
TYPED_TEST_SUITE(HealingMutant, broken);

/// At some step of its death, with some interleaving.
TYPED_TEST(HealingMutant, LosesSomething) {
  constexpr int nth = TypeParam::nth;
  for (int steps = TypeParam::from; steps < 40; ++steps)
    if (const auto r = explored_beside<pair_read_by<2>, TypeParam>({{0, nth, steps}}, 3, 1, nth + 1); !r.linearizable) {
      EXPECT_FALSE(r.schedule.empty());
      return;
    }
  ADD_FAILURE() << "nothing was lost";
}

}  // namespace
}  // namespace kgate::lab
