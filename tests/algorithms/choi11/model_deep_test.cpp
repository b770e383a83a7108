// SPDX-License-Identifier: Apache-2.0

/// The same promises at the sizes that take minutes.

#include "algorithms/verdicts.hpp"
#include "lab/checker/properties/schedule_search.hpp"

namespace kgate::lab {
namespace {

const std::vector<std::string> with_fife{"k-exclusion", "starvation-free", "bounded-exit", "fife"};

TEST(choi11_deep, N4k2_two_passages) { holds({"choi11", 4, 2, 2}, with_fife); }
TEST(choi11_deep, N5k2_one_passage) { holds({"choi11", 5, 2, 1}, with_fife); }
TEST(choi11_deep, N6k3_one_passage_by_symmetry) {
  holds({"choi11", 6, 3, 1, false, true}, {"k-exclusion", "deadlock-free"});
}

TEST(choi11_deep, compact_N4k2_two_passages) { holds({"choi11-compact", 4, 2, 2}, with_fife); }
TEST(choi11_deep, compact_N5k2_one_passage) { holds({"choi11-compact", 5, 2, 1}, with_fife); }

TEST(choi11_deep, linear_N4k2_two_passages) { holds({"choi11-linear", 4, 2, 2}, with_fife); }
TEST(choi11_deep, linear_N5k2_one_passage) { holds({"choi11-linear", 5, 2, 1}, with_fife); }

constexpr std::uint64_t walks = 200'000;

search_options looking(std::uint64_t count) {
  search_options options;
  options.properties = {"starvation-free"};
  options.crashes = 2;
  options.walks = count;
  options.seed = 4;
  options.passages = 22;
  return options;
}

TEST(choi11_deep, a_random_search_finds_the_error_of_two_blocks) {
  const trial printed{"choi11-as-printed-blocks", 4, 3, 0};
  program p(make_model(find_algorithm(printed.algorithm), 4, 3), 4, 3, {});
  const search_result result = search_schedules(p, printed.name(), looking(walks));
  ASSERT_TRUE(result.found) << result.walks << " walks";
  const trace shorter = shortened(*result.found, p);
  EXPECT_EQ(validate(*result.found, p), "");
  EXPECT_EQ(validate(shorter, p), "") << shorter.replay_command();
  EXPECT_LE(shorter.schedule.size(), result.found->schedule.size());
}

void expect_no_stall(const char* algorithm) {
  program p(make_model(find_algorithm(algorithm), 4, 3), 4, 3, {});
  const search_result result = search_schedules(p, trial{algorithm, 4, 3, 0}.name(), looking(10 * walks));
  EXPECT_FALSE(result.found) << result.found->replay_command();
  EXPECT_EQ(result.walks, 10 * walks);
}
TEST(choi11_deep, the_same_search_with_ten_times_the_effort_finds_nothing_with_three_blocks) {
  expect_no_stall("choi11");
}
TEST(choi11_deep, nor_with_two_blocks_and_the_narrower_test) { expect_no_stall("choi11-compact"); }

}  // namespace
}  // namespace kgate::lab
