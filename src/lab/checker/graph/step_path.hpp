// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <deque>
#include <unordered_map>
#include <vector>

#include "lab/checker/graph/graph.hpp"

namespace kgate::lab {

/// A shortest way from `from`, along steps for which follows(s, p) holds, to a step for which last(s, p) holds, that
/// included.
template <class Follows, class Last>
std::vector<int> way_to_step(const state_graph& g, state_id from, Follows&& follows, Last&& last) {
  struct came {
    state_id from;
    int p;
  };
  std::unordered_map<state_id, came> seen{{from, {no_state, -1}}};
  std::deque<state_id> queue{from};
  while (!queue.empty()) {
    const state_id s = queue.front();
    queue.pop_front();
    for (int p = 0; p < g.N(); ++p) {
      const state_id t = g.next(s, p);
      if (t == no_state) continue;
      if (last(s, p)) {
        std::vector<int> steps{p};
        for (state_id at = s; seen.at(at).from != no_state; at = seen.at(at).from) steps.push_back(seen.at(at).p);
        std::reverse(steps.begin(), steps.end());
        return steps;
      }
      if (follows(s, p) && seen.try_emplace(t, came{s, p}).second) queue.push_back(t);
    }
  }
  return {};
}

}  // namespace kgate::lab
