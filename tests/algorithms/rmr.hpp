// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The worst case of a passage over all schedules, for the tests of single algorithms.

#include <gtest/gtest.h>

#include "lab/models/models.hpp"
#include "lab/rmr/worst_case.hpp"

namespace kgate::lab {

inline rmr_result over_all_schedules(const char* id, int N, int k, int passages, const cost_model& cost) {
  program p(make_model(find_algorithm(id), N, k), N, k, {passages, {}});
  const rmr_result result = worst_rmr(p, cost, 0, {});
  EXPECT_TRUE(result.complete) << id << " " << result.why;
  EXPECT_FALSE(result.unbounded) << id;
  return result;
}

}  // namespace kgate::lab
