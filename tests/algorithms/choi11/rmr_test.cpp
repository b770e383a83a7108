// SPDX-License-Identifier: Apache-2.0

/// Remote references of a passage of Choi's algorithm: logarithmic in k.

#include "algorithms/rmr.hpp"

#include "lab/experiments/rmr_growth.hpp"

namespace kgate::lab {
namespace {

constexpr cost_model cc{memory_model::cc, true};

TEST(choi11_rmr, small_k_over_all_schedules) {
  EXPECT_EQ(over_all_schedules("choi11", 2, 1, 2, cc).worst, 8);
  EXPECT_EQ(over_all_schedules("choi11", 3, 2, 2, cc).worst, 14);
}

TEST(choi11_rmr, grows_with_log_k) {
  const rmr_growth growth = measure_growth(find_algorithm("choi11"), cc, {.k_max = 32, .steps_per_process = 600});
  for (const rmr_measurement& m : growth.measured) RecordProperty("k" + std::to_string(m.k), m.worst);
  EXPECT_GT(growth.slope, 2);
  EXPECT_LT(growth.slope, 8);
  EXPECT_LT(growth.deviation, 4);
}

/// What the paper improves on: a leaver looks at k + 1 slots, once or twice.
TEST(choi11_rmr, one_slot_for_each_waiter_grows_with_k) {
  const rmr_growth growth =
      measure_growth(find_algorithm("choi11-linear"), cc, {.k_max = 32, .steps_per_process = 600});
  ASSERT_FALSE(growth.measured.empty());
  for (const rmr_measurement& m : growth.measured) {
    RecordProperty("k" + std::to_string(m.k), m.worst);
    EXPECT_GE(m.worst, m.k + 1) << m.k;
    EXPECT_LE(m.worst, 4 * m.k + 10) << m.k;
  }
}

}  // namespace
}  // namespace kgate::lab
