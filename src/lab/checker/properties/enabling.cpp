// SPDX-License-Identifier: Apache-2.0
#include "lab/checker/properties/enabling.hpp"

#include <algorithm>
#include <bit>

#include "lab/checker/graph/step_path.hpp"

namespace kgate::lab {

namespace {

/// p has a step in s, and it enters the critical section.
bool enters(const state_graph& g, state_id s, int p) { return g.next(s, p) != no_state && g.enters(s, p); }

/// The valid state nearest to the start for which bad(s) holds.
template <class Bad>
state_id nearest(const state_graph& g, const depths& d, Bad&& bad) {
  state_id best = no_state;
  std::uint32_t depth = ~0U;
  for (state_id s = 0; s < g.end(); ++s) {
    if (!g.valid(s) || !bad(s)) continue;
    if (const std::uint32_t here = d.of(s); here < depth) {
      depth = here;
      best = s;
    }
  }
  return best;
}

}  // namespace

enabling::enabling(exploration& e, const state_graph& g, watch& w) : enabled_(g.end(), 0), inside_(g.end(), 0) {
  for (state_id s = 0; s < g.end(); ++s) {
    if (!g.valid(s)) continue;
    for (int p = 0; p < g.N(); ++p) {
      if (has(g.in_entry(s), p) && enters(g, s, p)) enabled_[s] |= only(p);
      const auto local = static_cast<local_id>(e.table->packing().local[p].get(e.store->record(s)));
      if (e.table->row(p, local).where == region::critical) inside_[s] |= only(p);
    }
  }
  // States are numbered about as they were reached, so going backwards most of what follows a state is settled before
  // it.
  for (bool changed = true; changed;) {
    changed = false;
    for (state_id s = g.end(); s-- > 0;) {
      if (enabled_[s] == 0) continue;
      process_set stays = enabled_[s];
      for (int p = 0; p < g.N(); ++p)
        if (const state_id t = g.next(s, p); t != no_state) stays &= enabled_[t] | only(p);
      if (stays != enabled_[s]) {
        enabled_[s] = stays;
        changed = true;
      }
    }
    if (w.over(0)) {
      complete_ = false;
      return;
    }
  }
}

state_id find_not_full(const state_graph& g, const depths& d, const enabling& who, int k) {
  return nearest(g, d, [&](state_id s) {
    const int free = k - std::popcount(who.inside(s));
    return std::popcount(who.enabled(s)) != std::min(free, std::popcount(g.in_entry(s)));
  });
}

state_id find_exit_region(const state_graph& g, const depths& d) {
  return nearest(g, d, [&](state_id s) { return g.in_exit(s) != 0; });
}

namespace {

/// Whether one victim is overtaken, and by which process, although it waits.
class overtaking_search {
 public:
  overtaking_search(const state_graph& g, const depths& d, const enabling& who, waits_for what, int victim)
      : graph_(g), depths_(d), who_(who), what_(what), victim_(victim), arrived_(g.end(), 0) {}

  /// The overtaking nearest to the start, if it is nearer than `best`. `w` may end it early.
  void run(std::optional<overtaking>& best, watch& w) {
    for (state_id s = 0; s < graph_.end(); ++s) {
      if (!graph_.valid(s) || !waits(s)) continue;
      arrived_[s] = who_.in_remainder(graph_, s);
      open_.push_back(s);
    }
    while (!open_.empty() && !w.over(0)) {
      std::vector<state_id> now;
      now.swap(open_);
      for (const state_id s : now)
        for (int p = 0; p < graph_.N(); ++p) follow(s, p, best);
      std::sort(open_.begin(), open_.end());
      open_.erase(std::unique(open_.begin(), open_.end()), open_.end());
    }
  }

  /// A way that shows it: from where the overtaker is in its remainder and the victim waits, to the overtaker's entry.
  void show(overtaking& found) const {
    const auto overtakes = [&](state_id s, int p) { return p == found.overtaker && enters(graph_, s, p); };
    const auto follows = [&](state_id s, int p) { return waits(graph_.next(s, p)) && !overtakes(s, p); };
    for (const state_id from : starts(found.overtaker)) {
      std::vector<int> steps = way_to_step(graph_, from, follows, overtakes);
      if (steps.empty()) continue;
      found.from = from;
      found.steps = std::move(steps);
      return;
    }
  }

 private:
  bool waits(state_id s) const { return has(waiting(graph_, who_, what_, s), victim_); }

  void follow(state_id s, int p, std::optional<overtaking>& best) {
    const state_id t = graph_.next(s, p);
    if (t == no_state) return;
    const bool gets_in = graph_.enters(s, p);
    if (gets_in && p != victim_ && has(arrived_[s], p) && (!best || depths_.of(s) < depths_.of(best->from)))
      best = overtaking{s, {}, victim_, p};
    if (!waits(t)) return;
    const process_set now = arrived_[t] | (gets_in ? arrived_[s] & ~only(p) : arrived_[s]);
    if (now == arrived_[t]) return;
    arrived_[t] = now;
    open_.push_back(t);
  }

  std::vector<state_id> starts(int overtaker) const {
    std::vector<state_id> all;
    for (state_id s = 0; s < graph_.end(); ++s)
      if (graph_.valid(s) && waits(s) && has(who_.in_remainder(graph_, s), overtaker)) all.push_back(s);
    std::stable_sort(all.begin(), all.end(), [&](state_id x, state_id y) { return depths_.of(x) < depths_.of(y); });
    return all;
  }

  const state_graph& graph_;
  const depths& depths_;
  const enabling& who_;
  waits_for what_;
  int victim_;
  std::vector<process_set> arrived_;  ///< which can have been in their remainder, and not inside since, while it waited
  std::vector<state_id> open_;
};

}  // namespace

std::optional<overtaking> find_overtaking(const state_graph& g, const depths& d, const enabling& who, waits_for what,
                                          watch& w) {
  std::optional<overtaking> best;
  for (int victim = 0; victim < g.N() && w.why().empty(); ++victim)
    overtaking_search(g, d, who, what, victim).run(best, w);
  if (best && w.why().empty()) overtaking_search(g, d, who, what, best->victim).show(*best);
  return best;
}

}  // namespace kgate::lab
