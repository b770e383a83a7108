// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A second engine, as simple as can be: no memoised automata, no packing, no tables. Every state carries the whole
/// history of every process, and every step runs the algorithm's text from the start of the passage. The real engine
/// must find the same states and the same steps.

#include <deque>
#include <set>
#include <string>
#include <vector>

#include "lab/checker/model/program.hpp"

namespace kgate::lab {

struct reference_count {
  std::uint64_t states = 0;
  std::uint64_t transitions = 0;
  int inside_max = 0;
};

inline reference_count explore_by_reference(const program& p) {
  struct state {
    std::vector<code> values;
    std::vector<std::vector<code>> histories;
  };
  const auto run_of = [&](const state& s, int q) { return p.run(q, s.histories[q]); };
  const auto key = [&](const state& s) {
    std::string text;
    for (const code c : s.values) text += std::to_string(c) + ',';
    for (int q = 0; q < p.N(); ++q) text += run_of(s, q).next.key + '|';
    return text;
  };
  reference_count count;
  std::set<std::string> seen;
  std::deque<state> queue;
  const auto visit = [&](state s) {
    if (seen.insert(key(s)).second) queue.push_back(std::move(s));
  };
  visit({std::vector<code>(static_cast<std::size_t>(p.variables()), 0),
         std::vector<std::vector<code>>(static_cast<std::size_t>(p.N()))});
  while (!queue.empty()) {
    const state s = std::move(queue.front());
    queue.pop_front();
    ++count.states;
    int inside = 0;
    for (int q = 0; q < p.N(); ++q) {
      const auto now = run_of(s, q);
      inside += now.next.where == region::critical;
      const code seen_value = now.next.variable < 0 ? 0 : s.values[now.next.variable];
      state t = s;
      t.histories[q].push_back(seen_value);
      const auto after = run_of(t, q);
      if (after.last.blocked) continue;
      ++count.transitions;
      if (after.last.written) t.values[now.next.variable] = *after.last.written;
      if (after.finished) t.histories[q].clear();
      visit(std::move(t));
    }
    count.inside_max = std::max(count.inside_max, inside);
  }
  return count;
}

}  // namespace kgate::lab
