// SPDX-License-Identifier: Apache-2.0

/// Where the printed text of Choi fails: docs/errata.md tells it, this holds it.

#include "algorithms/verdicts.hpp"
#include "lab/checker/properties/schedule_search.hpp"

namespace kgate::lab {
namespace {

TEST(choi11_as_printed, wait_sets_without_their_own_slot_starve_a_waiter_at_n3k2) {
  for (const char* id : {"choi11-as-printed-waits", "choi11-as-printed"}) {
    const check_result result = violated({id, 3, 2, 1}, "starvation-free");
    EXPECT_EQ(result.properties.front().counterexample->schedule.size(), 12U) << id;
  }
}

TEST(choi11_as_printed, the_deadlock_is_seen_by_symmetry_too) {
  decide({.algorithm = "choi11-as-printed-waits", .N = 3, .k = 2, .symmetry = true}, {"deadlock-free"},
         verdict::violated);
}

TEST(choi11_as_printed, rounding_up_starves_a_waiter_and_lets_too_many_in) {
  violated({"choi11-as-printed-rounding", 3, 2, 1}, "starvation-free");
  violated({"choi11-as-printed-rounding", 3, 2, 2}, "k-exclusion");
}

TEST(choi11_as_printed, short_patterns_starve_a_waiter) {
  violated({"choi11-as-printed-patterns", 3, 2, 2}, "starvation-free");
}

/// A run that the search of deep_test.cpp found, shortened. p2's first compare-and-swap on a slot loses to one that is
/// two rounds old, its second to one that is one round old.
TEST(choi11_as_printed, two_blocks_starve_a_waiter_at_n4k3) {
  trace t;
  t.of = trial{"choi11-as-printed-blocks", 4, 3, 0}.name();
  t.property = "starvation-free";
  t.schedule = parse_schedule("0x7,2x5,3x11,1x5,0x3,3x9,0,1x11,0x18,1x7,0x11,3x4,1x9,2x67,3x3,2x3,1x9,0x3,2,0x2");
  t.loop = 187;
  t.victim = 0;
  t.crashed = {1, 3};
  program printed(make_model(find_algorithm("choi11-as-printed-blocks"), 4, 3), 4, 3, {});
  EXPECT_EQ(validate(t, printed), "");
  program corrected(make_model(find_algorithm("choi11"), 4, 3), 4, 3, {});
  EXPECT_NE(validate(t, corrected), "");
}

TEST(choi11_one_update, a_random_search_finds_that_one_update_is_not_enough) {
  const trial once{"choi11-one-update", 4, 3, 0};
  program p(make_model(find_algorithm(once.algorithm), 4, 3), 4, 3, {});
  search_options options;
  options.properties = {"starvation-free"};
  options.crashes = 2;
  options.walks = 10'000;
  const search_result result = search_schedules(p, once.name(), options);
  ASSERT_TRUE(result.found);
  EXPECT_EQ(validate(*result.found, p), "");
}

}  // namespace
}  // namespace kgate::lab
