// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Conditions C3, C4 and C5 of section 3, each a property of the checker and a formula: two ways to the same verdict.
/// A process that crashes in its entry waits for ever, so they are for runs without crashes.

#include <string>

#include "algorithms/decide.hpp"

namespace kgate::lab {

/// C3: no process waits for ever while another gets inside again and again.
inline const std::string finite_waiting =
    "ltl: forall p: forall q: !(<>[] entry(p) && []<> remainder(q) && []<> inside(q))";

/// C4: none gets more than b times from its remainder to inside while another stays in its entry.
inline std::string bounded_waiting(int b) {
  std::string cycles = "(entry(p) && inside(q))";
  for (int i = 0; i < b; ++i)
    cycles = "(entry(p) && inside(q) && (entry(p) U (entry(p) && remainder(q) && (entry(p) U " + cycles + "))))";
  return "ltl: forall p: forall q: [] !(entry(p) && remainder(q) && (entry(p) U " + cycles + "))";
}
inline const std::string waiting_for_one = bounded_waiting(1);

/// C5: none gets from its remainder to inside while another stays in its entry.
inline const std::string fifo = "ltl: forall p: forall q: [] (entry(p) && remainder(q) -> (!inside(q) W !entry(p)))";

/// Section 4: of a lock, that the first to enter returns to its remainder first. With one permit the one inside came
/// after those in their exits.
inline const std::string order_preserving =
    "ltl: forall p: forall q: [] (exit(p) && inside(q) -> (!remainder(q) W remainder(p)))";

/// The verdict without crashes.
template <template <class> class Algorithm>
std::string says(int N, int k, const std::string& property) {
  return decide<Algorithm>({N, k, 0, 0}, property).verdict;
}

/// The properties find what the formulas find. Those inside need not leave by the properties, and must by the formulas:
/// here that changes nothing.
template <template <class> class Algorithm>
void expect_agreement(int N, int k) {
  SCOPED_TRACE(testing::Message() << "N=" << N << " k=" << k);
  EXPECT_EQ(says<Algorithm>(N, k, "finite-waiting"), says<Algorithm>(N, k, finite_waiting));
  EXPECT_EQ(says<Algorithm>(N, k, "fifo"), says<Algorithm>(N, k, fifo));
  const outcome bound = decide<Algorithm>({N, k, 0, 0}, "bounded-overtaking");
  const bool finite = bound.verdict == "holds";
  EXPECT_EQ(finite && bound.b == 0, says<Algorithm>(N, k, fifo) == "holds") << bound.b;
  EXPECT_EQ(finite && bound.b <= 1, says<Algorithm>(N, k, waiting_for_one) == "holds") << bound.b;
}

}  // namespace kgate::lab
