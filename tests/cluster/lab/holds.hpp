// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <string>

#include "cluster/lab/scripts.hpp"
#include "kgate/algorithms/cluster_recipe.hpp"

namespace kgate::lab {

/// The recipe that ships keeps its promises in all runs of these scripts, which are so many states: 0 for any number.
inline void holds(const cluster_scripts& what, std::uint64_t states = 0) {
  const script_verdict seen = explore_clients<detail::cluster::recipe>(what);
  EXPECT_TRUE(seen.holds) << seen.text;
  if (states != 0 && seen.holds) {
    EXPECT_EQ(seen.states, states);
  }
  testing::Test::RecordProperty("states", std::to_string(seen.states));
  std::printf("%llu states\n", static_cast<unsigned long long>(seen.states));
}

}  // namespace kgate::lab
