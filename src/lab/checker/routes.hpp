// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Shortest ways through part of a state graph, for the runs that counterexamples show.

#include <algorithm>
#include <deque>
#include <optional>
#include <unordered_map>
#include <vector>

#include "lab/checker/graph.hpp"

namespace kgate::lab {

struct route {
  std::vector<int> steps;  ///< the steps of the graph, in order
  state_id end = no_state;
};

/// A shortest way from `from`, by steps for which follows(s, i, t) holds, to a state for which arrived(s) holds or over a step
/// for which crosses(s, i, t) holds (that step included).
template <class Follows, class Arrived, class Crosses>
std::optional<route> shortest_route(const state_graph& g, state_id from, Follows&& follows, Arrived&& arrived,
                                    Crosses&& crosses) {
  struct came {
    state_id from;
    int step;
  };
  std::unordered_map<state_id, came> seen{{from, {no_state, -1}}};
  std::deque<state_id> queue{from};
  const auto unwind = [&](state_id s) {
    std::vector<int> steps;
    for (; seen.at(s).from != no_state; s = seen.at(s).from) steps.push_back(seen.at(s).step);
    std::reverse(steps.begin(), steps.end());
    return steps;
  };
  while (!queue.empty()) {
    const state_id s = queue.front();
    queue.pop_front();
    if (arrived(s)) return route{unwind(s), s};
    for (int i = 0; i < g.steps(); ++i) {
      const state_id t = g.next(s, i);
      if (t == no_state || !follows(s, i, t)) continue;
      if (crosses(s, i, t)) {
        route found{unwind(s), t};
        found.steps.push_back(i);
        return found;
      }
      if (seen.try_emplace(t, came{s, i}).second) queue.push_back(t);
    }
  }
  return std::nullopt;
}

}  // namespace kgate::lab
