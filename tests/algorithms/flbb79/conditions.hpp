// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Conditions C3, C4 and C5 of section 3 as formulas. Who crashes in its entry waits for ever, so they are for runs
/// without crashes.

#include <string>

#include "algorithms/decide.hpp"

namespace kgate::lab {

/// C3: nobody waits for ever while another gets inside again and again.
inline const std::string finite_waiting =
    "ltl: forall p: forall q: !(<>[] entry(p) && []<> remainder(q) && []<> inside(q))";

/// C4: nobody gets more than b times from its remainder to inside while another stays in its entry.
inline std::string bounded_waiting(int b) {
  std::string cycles = "(entry(p) && inside(q))";
  for (int i = 0; i < b; ++i)
    cycles = "(entry(p) && inside(q) && (entry(p) U (entry(p) && remainder(q) && (entry(p) U " + cycles + "))))";
  return "ltl: forall p: forall q: [] !(entry(p) && remainder(q) && (entry(p) U " + cycles + "))";
}
inline const std::string waiting_for_one = bounded_waiting(1);

/// C5: nobody gets from its remainder to inside while another stays in its entry.
inline const std::string fifo = "ltl: forall p: forall q: [] (entry(p) && remainder(q) -> (!inside(q) W !entry(p)))";

/// The verdict without crashes.
template <template <class> class Algorithm>
std::string says(int N, int k, const std::string& property) {
  return decide<Algorithm>({N, k, 0, 0}, property).verdict;
}

}  // namespace kgate::lab
