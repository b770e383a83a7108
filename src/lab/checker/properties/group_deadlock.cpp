// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <span>
#include <unordered_map>
#include <unordered_set>

#include "lab/checker/graph/components.hpp"
#include "lab/checker/graph/step_path.hpp"
#include "lab/checker/properties/enabling.hpp"

namespace kgate::lab {

namespace {

/// Whether every run from s in which each of G takes a step makes at least |G| processes enter.
bool group_enabled(const state_graph& g, state_id s, process_set G) {
  struct play {
    state_id s;
    process_set left, entered;
    bool operator==(const play&) const = default;
  };
  struct hash {
    std::size_t operator()(const play& x) const {
      return (std::size_t{x.s} * 0x9E3779B97F4A7C15ULL) ^ (std::size_t{x.left} << 40) ^ (std::size_t{x.entered} << 20);
    }
  };
  std::unordered_set<play, hash> seen{{s, G, 0}};
  std::vector<play> open{{s, G, 0}};
  while (!open.empty()) {
    const play at = open.back();
    open.pop_back();
    if (at.left == 0) return false;
    for (int p = 0; p < g.N(); ++p) {
      const state_id t = g.next(at.s, p);
      play to{t == no_state ? at.s : t, at.left & ~only(p), at.entered};  // one that is blocked steps without effect
      if (t != no_state && has(g.in_entry(at.s), p) && g.enters(at.s, p)) to.entered |= only(p);
      if (std::popcount(to.entered) >= std::popcount(G)) continue;
      if (seen.insert(to).second) open.push_back(to);
    }
  }
  return true;
}

}  // namespace

int allocated_permits(const state_graph& g, const enabling& who, state_id s, int wanted) {
  const int alone = std::min(wanted, std::popcount(who.enabled(s)));
  for (int size = wanted; size > alone; --size)
    for (process_set G = g.in_entry(s); G != 0; G = (G - 1) & g.in_entry(s))
      if (std::popcount(G) == size && group_enabled(g, s, G)) return size;
  return alone;
}

namespace {

/// Looks for a component in which no process changes regions although a living one waits for a permit that is neither
/// taken nor allocated, and keeps the one nearest to the start.
class group_deadlock_search {
 public:
  group_deadlock_search(const state_graph& g, const depths& d, const enabling& who, int k)
      : graph_(g), depths_(d), who_(who), k_(k), parts_(g) {}

  /// For one set of crashed processes; false if `w` ended it early.
  bool run(process_set crashed, watch& w) {
    crashed_ = crashed;
    return parts_.for_each([this](state_id s) { return in(s); }, [this](state_id s, int p) { return follows(s, p); },
                           [this](std::span<const state_id> members, auto&& same) {
                             judge(members, same);
                             return true;
                           },
                           w);
  }

  std::optional<lasso> found;

 private:
  process_set protocols(state_id s) const { return enabling::protocols(graph_, s); }
  bool in(state_id s) const { return (protocols(s) & ~crashed_) != 0 && (crashed_ & ~protocols(s)) == 0; }
  bool follows(state_id s, int p) const { return !has(crashed_, p) && !changes_region(s, p); }
  bool changes_region(state_id s, int p) const {
    const state_id t = graph_.next(s, p);
    return has(graph_.in_entry(s), p) != has(graph_.in_entry(t), p) ||
           has(graph_.in_exit(s), p) != has(graph_.in_exit(t), p) || has(who_.inside(s), p) != has(who_.inside(t), p);
  }

  template <class Same>
  void judge(std::span<const state_id> members, Same&& same) {
    process_set stepping = 0, always_able = ~process_set{0};
    for (const state_id s : members)
      for (int p = 0; p < graph_.N(); ++p) {
        const state_id t = graph_.next(s, p);
        if (t == no_state)
          always_able &= ~only(p);
        else if (follows(s, p) && in(t) && same(t))
          stepping |= only(p);
      }
    const bool unfair = (protocols(members.front()) & ~crashed_ & always_able & ~stepping) != 0;
    if (unfair || !permit_is_lost(members.front())) return;
    const state_id entry = *std::min_element(members.begin(), members.end(),
                                             [&](state_id a, state_id b) { return depths_.of(a) < depths_.of(b); });
    if (!found || depths_.of(entry) < depths_.of(found->entry)) found = cycle_through(members, entry, stepping);
  }

  /// A process that has left its remainder and was not allocated a permit stays there; the permits do not change in a
  /// component (the paper, proof of lemma 4.2), so one of its states speaks for all.
  bool permit_is_lost(state_id s) {
    if ((graph_.in_exit(s) & ~crashed_) != 0) return true;
    const int wanted = std::min(std::popcount(graph_.in_entry(s)), k_ - std::popcount(who_.inside(s)));
    if (wanted <= 0) return false;
    const auto [entry, fresh] = lost_.try_emplace(s, false);
    if (fresh) entry->second = allocated_permits(graph_, who_, s, wanted) < wanted;
    return entry->second;
  }

  /// A way round the component from `entry` on which every process of `stepping` steps.
  lasso cycle_through(std::span<const state_id> members, state_id entry, process_set stepping) const {
    lasso run{entry, {}, -1, crashed_};
    const std::unordered_set<state_id> all(members.begin(), members.end());
    const auto within = [&](state_id at, int p) { return follows(at, p) && all.contains(graph_.next(at, p)); };
    state_id here = entry;
    const auto walk = [&](const std::vector<int>& steps) {
      for (const int p : steps) {
        run.cycle.push_back(p);
        here = graph_.next(here, p);
      }
    };
    for (int p = 0; p < graph_.N(); ++p)
      if (has(stepping, p) && std::find(run.cycle.begin(), run.cycle.end(), p) == run.cycle.end())
        walk(way_to_step(graph_, here, within, [&](state_id at, int q) { return q == p && within(at, q); }));
    if (here != entry)
      walk(way_to_step(graph_, here, within,
                       [&](state_id at, int q) { return within(at, q) && graph_.next(at, q) == entry; }));
    return run;
  }

  const state_graph& graph_;
  const depths& depths_;
  const enabling& who_;
  int k_;
  components<state_graph> parts_;
  process_set crashed_ = 0;
  std::unordered_map<state_id, bool> lost_;  ///< what permit_is_lost said
};

}  // namespace

liveness_result find_group_deadlock(const state_graph& g, const depths& d, const enabling& who, int k, int crashes,
                                    watch& w) {
  liveness_result result;
  group_deadlock_search search(g, d, who, k);
  for (const process_set crashed : sets_up_to(g.N(), crashes))
    if (!search.run(crashed, w)) {
      result.complete = false;
      break;
    }
  result.found = std::move(search.found);
  return result;
}

}  // namespace kgate::lab
