// SPDX-License-Identifier: Apache-2.0
// The promises of Afek et al. at sizes that take seconds; model_deep_test.cpp has the larger ones.

#include "algorithms/decide.hpp"
#include "kgate/algorithms/afek94_bounded_timestamps.hpp"

namespace kgate::lab {
namespace {

TEST(AfekUnbounded, HoldsN3k2OnePassage) {
  for (const char* property :
       {"k-exclusion", "deadlock-free", "starvation-free", "bounded-exit", "fife", "enabled-in-order"})
    EXPECT_EQ(decide<afek94::fife>({3, 2, 1}, property).verdict, "holds") << property;
}
TEST(AfekUnbounded, HoldsN2k1FourPassages) {
  for (const char* property : {"k-exclusion", "starvation-free", "fife", "enabled-in-order"})
    EXPECT_EQ(decide<afek94::fife>({2, 1, 4}, property).verdict, "holds") << property;
}
TEST(AfekUnbounded, AsPrintedTwoProcessesAreInside) {
  const outcome seen = decide<afek94::printed_label>({2, 1, 1}, "k-exclusion");
  EXPECT_EQ(seen.verdict, "violated");
  EXPECT_EQ(seen.length, 13u);
}
TEST(AfekBounded, HoldsN2k1WithoutLimit) {
  for (const char* property : {"k-exclusion", "starvation-free", "bounded-exit", "fife", "enabled-in-order"})
    EXPECT_EQ(decide<afek94::bounded>({2, 1}, property).verdict, "holds") << property;
}

}  // namespace
}  // namespace kgate::lab
