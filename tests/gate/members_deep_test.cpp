// SPDX-License-Identifier: Apache-2.0
// As many participants as a gate can have.
#include <gtest/gtest.h>

#include <vector>

#include "gate/faults/scratch.hpp"

namespace kgate::faults {
namespace {

TEST(gate_members_deep, has_16384_participants_and_not_one_more) {
  const scratch where;
  gate g = where.open("g", 2);
  {
    std::vector<gate::member> members;
    for (int i = 0; i < 16384; ++i) members.push_back(g.join());
    EXPECT_THROW(static_cast<void>(where.open("g").join()), gate_error);
    members.back().enter();
    EXPECT_EQ(g.status().holders.size(), 1U);
  }
  gate::member again = where.open("g").join();
  again.enter();
}

}  // namespace
}  // namespace kgate::faults
