// SPDX-License-Identifier: Apache-2.0
#include "gate/faults/storm.hpp"

namespace kgate::faults {
namespace {

TEST(storm, three_hundred_kills) { storm({.seed = 1, .processes = 20, .k = 3, .kills = 200}); }
TEST(storm, one_slot_is_fought_over) { storm({.seed = 2, .processes = 12, .k = 2, .kills = 100}); }
TEST(storm, with_overtaking) { storm({.seed = 3, .processes = 12, .k = 2, .kills = 100, .overtakings = 5}); }
TEST(storm, of_everything_at_once) {
  storm({.seed = 4, .processes = 12, .k = 2, .kills = 100, .overtakings = 0, .mixed = true});
}

}  // namespace
}  // namespace kgate::faults
