// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A fair run round a strongly connected part of a graph, short enough to be read in a counterexample.

#include <optional>
#include <vector>

#include "lab/checker/graph/routes.hpp"

namespace kgate::lab {

/// A cycle from `entry` by steps for which within(s, i, t) holds, on which each process of `owed` takes a step or is
/// somewhere not obliged to, and each of `must_step` takes one. `stepping` are those that take steps in the part at
/// all.
template <class Graph, class Within>
std::vector<int> fair_cycle(const Graph& g, typename Graph::vertex entry, Within&& within, process_set owed,
                            process_set must_step, process_set stepping) {
  std::vector<int> cycle;
  process_set settled = ~owed;
  typename Graph::vertex here = entry;
  const auto follow = [&](const auto& way) {
    if (!way) return;
    for (const int i : way->steps) {
      settled |= only(g.owner(i));
      cycle.push_back(i);
      here = g.next(here, i);
      settled |= ~g.obliged(here);
    }
  };
  const auto never = [](auto...) { return false; };
  settled |= ~g.obliged(here);
  settled &= ~must_step;
  for (int p = 0; p < g.N(); ++p) {
    if (has(settled, p)) continue;
    follow(has(stepping, p) ? shortest_route(g, here, within, never, [&](auto, int i, auto) { return g.owner(i) == p; })
                            : shortest_route(
                                  g, here, within, [&](auto s) { return !has(g.obliged(s), p); }, never));
  }
  follow(shortest_route(
      g, here, within, [&](auto s) { return s == entry; }, never));
  return cycle;
}

}  // namespace kgate::lab
