// SPDX-License-Identifier: Apache-2.0
#include "killed_between_instructions.hpp"

namespace kgate::faults {
namespace {

TEST(HealingDeep, TwoProcessesAreKilledTheSecondAtEveryInstruction) {
  const std::size_t all = one_dies_anywhere<2>();
  for (std::size_t first = 0; first < all; first += 10) {
    another_dies_healing<1>(first, 1);
    another_dies_healing<2>(first, 1);
    if (HasFailure()) return;
  }
}
TEST(HealingDeep, WithSixteenSlots) { EXPECT_GT(one_dies_anywhere<16>(), 100U); }

}  // namespace
}  // namespace kgate::faults
