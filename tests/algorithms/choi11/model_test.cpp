// SPDX-License-Identifier: Apache-2.0

/// What Choi's algorithm promises, over all schedules, at the sizes that take seconds.

#include "algorithms/verdicts.hpp"

namespace kgate::lab {
namespace {

const std::vector<std::string> basic{"k-exclusion", "deadlock-free", "starvation-free", "bounded-exit"};
const std::vector<std::string> with_fife{"k-exclusion",  "deadlock-free", "starvation-free",
                                         "bounded-exit", "k-fcfs",        "fife"};

TEST(choi11, N3k2_two_passages) { holds({"choi11", 3, 2, 2}, with_fife); }
TEST(choi11, N3k1_two_passages) { holds({"choi11", 3, 1, 2}, with_fife); }
TEST(choi11, N4k2_one_passage) { holds({"choi11", 4, 2, 1}, with_fife); }
TEST(choi11, N4k3_one_passage) { holds({"choi11", 4, 3, 1}, with_fife); }
TEST(choi11, N5k2_one_passage_by_symmetry) {
  holds({"choi11", 5, 2, 1, false, true}, {"k-exclusion", "deadlock-free"});
}
TEST(choi11, compact_N3k2_two_passages) { holds({"choi11-compact", 3, 2, 2}, with_fife); }
TEST(choi11, compact_N4k3_one_passage) { holds({"choi11-compact", 4, 3, 1}, with_fife); }
TEST(choi11, amortized_N3k2_two_passages) { holds({"choi11-amortized", 3, 2, 2}, with_fife); }
TEST(choi11, linear_N3k2_two_passages) { holds({"choi11-linear", 3, 2, 2}, with_fife); }
TEST(choi11, linear_N4k3_one_passage) { holds({"choi11-linear", 4, 3, 1}, with_fife); }
TEST(choi11, nobody_waits_when_n_is_at_most_k) { holds({"choi11", 2, 2, 2}, basic); }

}  // namespace
}  // namespace kgate::lab
