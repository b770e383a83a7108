// SPDX-License-Identifier: Apache-2.0
#include "lab/checker/local_analysis.hpp"

#include <algorithm>
#include <functional>

namespace kgate::lab {

namespace {

std::vector<std::vector<local_id>> successors(const program& p, int process) {
  std::vector<std::vector<local_id>> next(p.locals(process));
  p.for_each_step(process, [&](local_id s, code, const transition& t) {
    if (!t.blocked) next[s].push_back(t.next);
  });
  return next;
}

}  // namespace

bool has_cycle_in(const program& p, region where) {
  for (int process = 0; process < p.N(); ++process) {
    const auto next = successors(p, process);
    enum : char { fresh, open, closed };
    std::vector<char> mark(next.size(), fresh);
    std::function<bool(local_id)> visit = [&](local_id s) {
      mark[s] = open;
      for (const local_id t : next[s]) {
        if (p.local(process, t).where != where) continue;
        if (mark[t] == open || (mark[t] == fresh && visit(t))) return true;
      }
      mark[s] = closed;
      return false;
    };
    for (local_id s = 0; s < next.size(); ++s)
      if (mark[s] == fresh && p.local(process, s).where == where && visit(s)) return true;
  }
  return false;
}

int exit_steps_max(const program& p) {
  int most = 0;
  for (int process = 0; process < p.N(); ++process) {
    const auto next = successors(p, process);
    std::vector<int> known(next.size(), -1);
    std::function<int(local_id)> longest = [&](local_id s) {
      if (known[s] >= 0) return known[s];
      int best = 0;
      for (const local_id t : next[s])
        if (p.local(process, t).where == region::exit) best = std::max(best, longest(t));
      return known[s] = best + 1;
    };
    for (local_id s = 0; s < next.size(); ++s)
      if (p.local(process, s).where == region::critical) most = std::max(most, longest(s));
  }
  return most;
}

}  // namespace kgate::lab
