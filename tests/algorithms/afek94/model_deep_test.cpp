// SPDX-License-Identifier: Apache-2.0
// The promises of Afek et al. at sizes that take minutes.

#include "algorithms/decide.hpp"
#include "kgate/algorithms/afek94_bounded_timestamps.hpp"

namespace kgate::lab {
namespace {

TEST(AfekUnbounded, HoldsN3k2TwoPassages) {
  for (const char* property : {"k-exclusion", "starvation-free", "fife", "enabled-in-order"})
    EXPECT_EQ(decide<afek94::fife>({3, 2, 2}, property).verdict, "holds") << property;
}
TEST(AfekUnbounded, KeepsAtMostKInsideN4k2OnePassage) {
  const outcome seen = decide<afek94::fife>({4, 2, 1}, "k-exclusion");
  EXPECT_EQ(seen.verdict, "holds");
  EXPECT_EQ(seen.states, 151'986'053u);
}
/// The largest that completes: with two passages each, N = 3 and k = 1 have more than 380 million states.
TEST(AfekBounded, HoldsN3OnePassage) {
  for (const int k : {1, 2})
    for (const char* property :
         {"k-exclusion", "deadlock-free", "starvation-free", "bounded-exit", "fife", "enabled-in-order"})
      EXPECT_EQ(decide<afek94::bounded>({3, k, 1}, property).verdict, "holds") << "k = " << k << " " << property;
}

}  // namespace
}  // namespace kgate::lab
