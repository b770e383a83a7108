// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Systems without their supervisors, made so small that all their states can be met.

#include <gtest/gtest.h>

#include <iostream>

#include "algorithms/flbb79/simulation_search.hpp"
#include "kgate/algorithms/flbb79_bounded.hpp"

namespace kgate::flbb79 {

/// The supervisor's state in one or two messages.
struct wide_messages : as_corrected {
  static constexpr int message_bits = 14;
};
/// The same in one message, with up to two permits and k = 2.
struct whole_messages : as_corrected {
  static constexpr int message_bits = 22;
};
struct without_prevhelper : wide_messages {
  static constexpr bool tests_prevhelper = false;
};

/// All states, as many as are expected: nothing is wrong, and what the lemma is about happens. Prints the coverage.
template <int N, class Reading = wide_messages, class System = bucket_system<>>
auto expect_simulation(int l, int k, int passages, std::size_t states) {
  constexpr std::size_t states_max = 120'000'000;
  const auto seen = simulation_search<System, Reading, N>(l, k).run(passages, states_max);
  std::cout << "N = " << N << ", l = " << l << ", k = " << k << ", " << passages << " passages: " << seen.states
            << " states, " << seen.distributed << " of them with the state distributed, " << seen.distributed_stages
            << " supervisor steps from there, " << seen.handed_over << " hand-overs\n";
  EXPECT_EQ(seen.wrong, "");
  EXPECT_TRUE(seen.complete);
  EXPECT_EQ(seen.states, states);
  EXPECT_EQ(seen.lonely_releases, 0u) << "elig = D decides about a slot";
  EXPECT_GT(seen.distributed, seen.states / 4);
  EXPECT_GT(seen.handed_over, 10u);
  EXPECT_GT(seen.quitters_holding, 1000u);
  return seen;
}

}  // namespace kgate::flbb79
