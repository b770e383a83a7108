// SPDX-License-Identifier: Apache-2.0
#include "lab/checker/graph/local_analysis.hpp"

#include <algorithm>
#include <functional>
#include <span>

#include "lab/checker/graph/components.hpp"

namespace kgate::lab {

namespace {

std::vector<std::vector<local_id>> successors(const program& p, int process) {
  std::vector<std::vector<local_id>> next(p.locals(process));
  p.for_each_step(process, [&](local_id s, code, const transition& t) {
    if (!t.blocked) next[s].push_back(t.next);
  });
  return next;
}

/// The part of a process's automaton that lies in one region.
class local_graph {
 public:
  using vertex = local_id;
  static constexpr vertex nowhere = no_state;

  local_graph(const program& p, int process, region where) : next_(successors(p, process)), inside_(next_.size()) {
    for (local_id s = 0; s < next_.size(); ++s) {
      inside_[s] = p.local(process, s).where == where;
      steps_ = std::max(steps_, static_cast<int>(next_[s].size()));
    }
  }
  local_id end() const { return static_cast<local_id>(next_.size()); }
  bool valid(local_id s) const { return inside_[s]; }
  int steps() const { return steps_; }
  state_id next(local_id s, int i) const {
    return static_cast<std::size_t>(i) < next_[s].size() ? next_[s][i] : no_state;
  }
  bool loops(local_id s) const { return std::find(next_[s].begin(), next_[s].end(), s) != next_[s].end(); }

 private:
  std::vector<std::vector<local_id>> next_;
  std::vector<bool> inside_;
  int steps_ = 0;
};

std::vector<bool> on_cycles(const local_graph& graph) {
  std::vector<bool> cyclic(graph.end(), false);
  const run_limits no_limits;
  watch endless(no_limits);
  components<local_graph>(graph).for_each([&](local_id s) { return graph.valid(s); },
                                          [](local_id, int) { return true; },
                                          [&](std::span<const local_id> members, auto&&) {
                                            if (members.size() > 1 || graph.loops(members[0]))
                                              for (const local_id s : members) cyclic[s] = true;
                                            return true;
                                          },
                                          endless);
  return cyclic;
}

}  // namespace

std::vector<bool> recurrent_locals(const program& p, int process, region where) {
  std::vector<bool> recurrent = on_cycles(local_graph(p, process, where));
  for (local_id s = 0; s < recurrent.size(); ++s)
    if (p.local(process, s).where == where && p.local(process, s).op == operation::await) recurrent[s] = true;
  return recurrent;
}

bool has_cycle_in(const program& p, region where) {
  for (int process = 0; process < p.N(); ++process) {
    const std::vector<bool> cyclic = on_cycles(local_graph(p, process, where));
    if (std::find(cyclic.begin(), cyclic.end(), true) != cyclic.end()) return true;
  }
  return false;
}

std::vector<bool> recurrent_in_doorway(const program& p, int process) {
  std::vector<bool> recurrent = recurrent_locals(p, process, region::entry);
  for (local_id s = 0; s < recurrent.size(); ++s) {
    const local_state& at = p.local(process, s);
    // The first access of a passage is made from the remainder.
    if (at.where == region::remainder && at.op == operation::await && !at.done) recurrent[s] = true;
    if (at.waiting) recurrent[s] = false;
  }
  return recurrent;
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

doorways doorways_of(const program& p) {
  bool entry = false;
  for (int process = 0; process < p.N(); ++process)
    for (local_id s = 0; s < p.locals(process); ++s) {
      if (p.local(process, s).waiting) return doorways::marked;
      entry |= p.local(process, s).where == region::entry;
    }
  return entry ? doorways::none : doorways::not_needed;
}

}  // namespace kgate::lab
