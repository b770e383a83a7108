// SPDX-License-Identifier: Apache-2.0
// What takes minutes: more passages, more processes.
#include <gtest/gtest.h>

#include "futex_machine.hpp"
#include "lab_gates.hpp"

namespace kgate::lab {
namespace {

const std::vector<std::string> promised{"k-exclusion", "deadlock-free", "starvation-free", "bounded-exit", "fife"};

TEST(KgateModelDeep, FifoN3k2ThreePassages) {
  const auto got = verdicts<fifo_gate>(3, 2, 3, 1, promised);
  EXPECT_EQ(got.overall(), verdict::holds) << text(got);
}
TEST(KgateModelDeep, FifoN4k3TwoPassages) {
  const auto got = verdicts<fifo_gate>(4, 3, 2, 2, promised, {.gigabytes = 9});
  EXPECT_EQ(got.overall(), verdict::holds) << text(got);
}
TEST(KgateModelDeep, GivingUpN3k1TwoPassages) {
  const auto got = verdicts<impatient_gate>(3, 2, 2, 1, {"k-exclusion", "deadlock-free", "starvation-free"});
  EXPECT_EQ(got.overall(), verdict::holds) << text(got);
}
TEST(KgateModelDeep, OvertakingN3k1) {
  const auto got = verdicts<overtaking_gate<2>>(3, 1, 1, 0, {"k-exclusion", "deadlock-free", "starvation-free"});
  EXPECT_EQ(got.overall(), verdict::holds) << text(got);
}
TEST(KgateModelDeep, NoWakeUpIsLostN3k2Overtaking) {
  const auto got =
      verdicts<sleeping_gate<2, 2>>(3, 2, 1, 0, {"k-exclusion", "deadlock-free", "starvation-free"}, {.first_more = 1});
  EXPECT_EQ(got.overall(), verdict::holds) << text(got);
}

}  // namespace
}  // namespace kgate::lab
