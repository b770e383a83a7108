// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Shortest ways through part of a state graph, for the runs that counterexamples show.

#include <algorithm>
#include <deque>
#include <optional>
#include <unordered_map>
#include <vector>

#include "lab/checker/graph/graph.hpp"

namespace kgate::lab {

template <class Vertex>
struct route {
  std::vector<int> steps;  ///< the steps of the graph, in order
  Vertex end{};
};

/// A shortest way from `from`, by steps for which follows(s, i, t) holds, to a state for which arrived(s) holds or over
/// a step for which crosses(s, i, t) holds (that step included). A Graph has steps() steps a vertex and next(s, i),
/// where step i of s leads, or nowhere.
template <class Graph, class Follows, class Arrived, class Crosses>
std::optional<route<typename Graph::vertex>> shortest_route(const Graph& g, typename Graph::vertex from,
                                                            Follows&& follows, Arrived&& arrived, Crosses&& crosses) {
  using vertex = typename Graph::vertex;
  struct came {
    vertex from;
    int step;
  };
  std::unordered_map<vertex, came> seen{{from, {Graph::nowhere, -1}}};
  std::deque<vertex> queue{from};
  const auto unwind = [&](vertex s) {
    std::vector<int> steps;
    for (; seen.at(s).from != Graph::nowhere; s = seen.at(s).from) steps.push_back(seen.at(s).step);
    std::reverse(steps.begin(), steps.end());
    return steps;
  };
  while (!queue.empty()) {
    const vertex s = queue.front();
    queue.pop_front();
    if (arrived(s)) return route<vertex>{unwind(s), s};
    for (int i = 0; i < g.steps(); ++i) {
      const vertex t = g.next(s, i);
      if (t == Graph::nowhere || !follows(s, i, t)) continue;
      if (crosses(s, i, t)) {
        route<vertex> found{unwind(s), t};
        found.steps.push_back(i);
        return found;
      }
      if (seen.try_emplace(t, came{s, i}).second) queue.push_back(t);
    }
  }
  return std::nullopt;
}

}  // namespace kgate::lab
