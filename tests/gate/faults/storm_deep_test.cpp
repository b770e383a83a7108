// SPDX-License-Identifier: Apache-2.0
#include "gate/faults/storm.hpp"

namespace kgate::faults {
namespace {

class deep_storm : public testing::TestWithParam<unsigned> {};

TEST_P(deep_storm, loses_nothing) {
  const unsigned seed = GetParam();
  storm({.seed = seed,
         .processes = 10 + static_cast<int>(seed % 4) * 10,
         .k = 2 + static_cast<int>(seed % 3),
         .kills = 2500,
         .overtakings = seed % 2 * 10,
         .mixed = true});
}

INSTANTIATE_TEST_SUITE_P(seeds, deep_storm, testing::Range(100U, 108U));

}  // namespace
}  // namespace kgate::faults
