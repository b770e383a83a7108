// SPDX-License-Identifier: Apache-2.0

/// The same promises at the sizes that take minutes.

#include "algorithms/verdicts.hpp"

namespace kgate::lab {
namespace {

const std::vector<std::string> with_fife{"k-exclusion", "starvation-free", "bounded-exit", "fife"};

TEST(danek10_deep, kfcfs_N4k2_one_passage) {
  holds({"danek10-kfcfs", 4, 2, 1}, {"k-exclusion", "starvation-free", "k-fcfs"});
  violated({"danek10-kfcfs", 4, 2, 1}, "fife");
}
TEST(danek10_deep, fife_N3k2_two_passages) { holds({"danek10-fife", 3, 2, 2}, with_fife); }
TEST(danek10_deep, fife_N4k2_one_passage) { holds({"danek10-fife", 4, 2, 1}, {"k-exclusion", "fife"}); }
TEST(danek10_deep, reset_N3k1_two_passages) { holds({"danek10-reset", 3, 1, 2}, with_fife); }
TEST(danek10_deep, reset_N3k2_two_passages) { holds({"danek10-reset", 3, 2, 2}, with_fife); }
TEST(danek10_deep, nonatomic_on_safe_registers_N3k2_one_passage) {
  holds({"danek10-nonatomic", 3, 2, 1, true}, with_fife);
}

}  // namespace
}  // namespace kgate::lab
