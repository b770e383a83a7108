// SPDX-License-Identifier: Apache-2.0

/// The fences of the text for safe registers, over all runs of two processes on a machine that delays writes: with them
/// at most one is inside, and neither can be spared.

#include "algorithms/danek10/store_order.hpp"

#include <algorithm>

#include "algorithms/verdicts.hpp"
#include "kgate/algorithms/danek10_nonatomic.hpp"

namespace kgate::lab {
namespace {

check_result explored(std::string_view fence_left_out, int passages, verdict expected) {
  const trial size{"", 2, 1, passages};
  program p(make_store_order_model<danek10::nonatomic>(fence_left_out), 4, 1, {passages, {}});
  return decide(size, p, {"k-exclusion"}, expected);
}

TEST(danek10_fences, keep_one_inside_when_writes_are_late_three_passages) {
  const check_result result = explored("", 3, verdict::holds);
  EXPECT_GT(result.states, 10'000u);
}
TEST(danek10_fences, without_F1_both_get_in) { explored("F1", 2, verdict::violated); }
TEST(danek10_fences, without_F2_both_get_in) { explored("F2", 1, verdict::violated); }

}  // namespace
}  // namespace kgate::lab
