// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <string>

#include "cluster/lab/scripts.hpp"
#include "kgate/algorithms/cluster_recipe.hpp"

namespace kgate::lab {

/// The recipe that ships keeps its promises in all runs of these scripts.
inline void holds(const cluster_scripts& what, std::uint64_t memory_max = std::uint64_t{5} << 30) {
  const script_verdict seen = explore_clients<detail::cluster::recipe>(what, memory_max);
  EXPECT_TRUE(seen.holds) << seen.text;
  testing::Test::RecordProperty("states", std::to_string(seen.states));
  std::printf("%llu states\n", static_cast<unsigned long long>(seen.states));
}

}  // namespace kgate::lab
