// SPDX-License-Identifier: Apache-2.0
#include "killed_between_instructions.hpp"

namespace kgate::faults {
namespace {

TEST(Healing, AProcessIsKilledAtEveryInstruction) {
  EXPECT_GT(one_dies_anywhere<2>(), 100U);
  EXPECT_GT(one_dies_anywhere<1>(), 100U);
}
TEST(Healing, AndAnotherOneWhileItHeals) {
  const std::size_t all = one_dies_anywhere<1>();
  for (std::size_t first = all / 8; first < all; first += all / 8)
    EXPECT_GT(another_dies_healing<1>(first, 13), all / 26) << first;
}

}  // namespace
}  // namespace kgate::faults
