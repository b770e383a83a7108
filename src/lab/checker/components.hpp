// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Strongly connected components of part of a graph (Pearce's variant of Tarjan's algorithm: one number a state), found in an
/// order in which every component comes after those it leads to.
///
/// A Graph has end(), valid(s), steps() steps a state and next(s, i), where step i of s leads, or no_state.

#include <cstdint>
#include <vector>

#include "lab/checker/explorer.hpp"

namespace kgate::lab {

template <class Graph>
class components {
 public:
  explicit components(const Graph& g) : graph_(g), number_(g.end(), 0) {}

  /// Calls found(members, same) for every component of the part of the graph with the states for which in(s) holds and the
  /// steps for which follows(s, p) holds. same(s) tells whether a state is in the component at hand. Ends when found returns
  /// false or `w` is over; returns whether it came to the end.
  template <class In, class Follows, class Found>
  bool for_each(In&& in, Follows&& follows, Found&& found, watch& w) {
    std::fill(number_.begin(), number_.end(), 0);
    std::uint32_t index = 1;
    std::uint32_t component = no_state;
    std::vector<state_id> pending, members;
    struct visit {
      state_id s;
      std::uint16_t p;
      bool root;
    };
    std::vector<visit> path;
    const int N = graph_.steps();
    for (state_id start = 0; start < graph_.end(); ++start) {
      if (!graph_.valid(start) || number_[start] != 0 || !in(start)) continue;
      if ((start & 0xFFF) == 0 && w.over(0)) return false;
      path.push_back({start, 0, true});
      number_[start] = index++;
      while (!path.empty()) {
        visit& top = path.back();
        if (top.p < N) {
          const int p = top.p++;
          const state_id t = graph_.next(top.s, p);
          if (t == no_state || !follows(top.s, p) || !in(t)) continue;
          if (number_[t] == 0) {
            number_[t] = index++;
            path.push_back({t, 0, true});
            if ((index & 0xFFFFF) == 0 && w.over(0)) return false;
          } else if (number_[t] < number_[top.s]) {
            number_[top.s] = number_[t];
            top.root = false;
          }
          continue;
        }
        const visit done = top;
        path.pop_back();
        if (done.root) {
          members.assign(1, done.s);
          --index;
          while (!pending.empty() && number_[done.s] <= number_[pending.back()]) {
            number_[pending.back()] = component;
            members.push_back(pending.back());
            pending.pop_back();
            --index;
          }
          number_[done.s] = component;
          const std::uint32_t mine = component--;
          if (!found(members, [&](state_id s) { return number_[s] == mine; })) return true;
        } else {
          pending.push_back(done.s);
        }
        if (!path.empty()) {
          visit& above = path.back();
          if (number_[done.s] < number_[above.s]) {
            number_[above.s] = number_[done.s];
            above.root = false;
          }
        }
      }
    }
    return true;
  }

 private:
  const Graph& graph_;
  std::vector<std::uint32_t> number_;
};

}  // namespace kgate::lab
