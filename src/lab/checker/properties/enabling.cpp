// SPDX-License-Identifier: Apache-2.0
#include "lab/checker/properties/enabling.hpp"

#include <algorithm>
#include <bit>
#include <deque>
#include <span>
#include <unordered_map>
#include <unordered_set>

#include "lab/checker/graph/components.hpp"

namespace kgate::lab {

namespace {

/// p has a step in s, and it enters the critical section.
bool enters(const state_graph& g, state_id s, int p) { return g.next(s, p) != no_state && g.enters(s, p); }

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

std::optional<overtaking> find_overtaking(const state_graph& g, const depths& d, const enabling& who, watch& w) {
  // arrived[s]: who can have been in its remainder, and not inside since, while `victim` waited without a break.
  std::optional<overtaking> best;
  std::uint32_t depth = ~0U;
  for (int victim = 0; victim < g.N(); ++victim) {
    const auto waits = [&](state_id s) { return has(who.kept_waiting(g, s), victim); };
    std::vector<process_set> arrived(g.end(), 0);
    std::vector<state_id> open;
    for (state_id s = 0; s < g.end(); ++s) {
      if (!g.valid(s) || !waits(s)) continue;
      arrived[s] = who.in_remainder(g, s);
      open.push_back(s);
    }
    while (!open.empty()) {
      if (w.over(0)) return best;
      std::vector<state_id> more;
      for (const state_id s : open)
        for (int p = 0; p < g.N(); ++p) {
          const state_id t = g.next(s, p);
          if (t == no_state) continue;
          const bool gets_in = g.enters(s, p);
          if (gets_in && p != victim && has(arrived[s], p)) {
            if (const std::uint32_t here = d.of(s); here < depth) {
              depth = here;
              best = overtaking{s, {}, victim, p};
            }
          }
          if (!waits(t)) continue;
          const process_set now = arrived[t] | (gets_in ? arrived[s] & ~only(p) : arrived[s]);
          if (now == arrived[t]) continue;
          arrived[t] = now;
          more.push_back(t);
        }
      std::sort(more.begin(), more.end());
      more.erase(std::unique(more.begin(), more.end()), more.end());
      open = std::move(more);
    }
  }
  if (!best) return best;
  // A way that shows it: from where the overtaker is in its remainder and the victim waits, to the overtaker's entry.
  const int victim = best->victim, overtaker = best->overtaker;
  const auto waits = [&](state_id s) { return has(who.kept_waiting(g, s), victim); };
  std::vector<state_id> starts;
  for (state_id s = 0; s < g.end(); ++s)
    if (g.valid(s) && waits(s) && has(who.in_remainder(g, s), overtaker)) starts.push_back(s);
  std::stable_sort(starts.begin(), starts.end(), [&](state_id a, state_id b) { return d.of(a) < d.of(b); });
  for (const state_id from : starts) {
    std::vector<int> steps = way_to_step(
        g, from, [&](state_id s, int p) { return waits(g.next(s, p)) && !(p == overtaker && enters(g, s, p)); },
        [&](state_id s, int p) { return p == overtaker && enters(g, s, p); });
    if (steps.empty()) continue;
    best->from = from;
    best->steps = std::move(steps);
    break;
  }
  return best;
}

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
      play to{t == no_state ? at.s : t, at.left & ~only(p), at.entered};  // who is blocked steps without effect
      if (t != no_state && has(g.in_entry(at.s), p) && g.enters(at.s, p)) to.entered |= only(p);
      if (std::popcount(to.entered) >= std::popcount(G)) continue;
      if (seen.insert(to).second) open.push_back(to);
    }
  }
  return true;
}

}  // namespace

int allocated_places(const state_graph& g, const enabling& who, state_id s, int wanted) {
  const int alone = std::min(wanted, std::popcount(who.enabled(s)));
  for (int size = wanted; size > alone; --size)
    for (process_set G = g.in_entry(s); G != 0; G = (G - 1) & g.in_entry(s))
      if (std::popcount(G) == size && group_enabled(g, s, G)) return size;
  return alone;
}

liveness_result find_group_deadlock(const state_graph& g, const depths& d, const enabling& who, int k, int crashes,
                                    watch& w) {
  liveness_result result;
  std::uint32_t depth = ~0U;
  components parts(g);
  const int N = g.N();
  const auto changes_region = [&](state_id s, int p) {
    const state_id t = g.next(s, p);
    return has(g.in_entry(s), p) != has(g.in_entry(t), p) || has(g.in_exit(s), p) != has(g.in_exit(t), p) ||
           has(who.inside(s), p) != has(who.inside(t), p);
  };
  // Who has left its remainder and not been allocated a place stays there; the places do not change in a component (the
  // paper, proof of lemma 4.2), so one of its states speaks for all.
  std::unordered_map<state_id, bool> judged;
  for (const process_set crashed : sets_up_to(N, crashes)) {
    const auto follows = [&](state_id s, int p) { return !has(crashed, p) && !changes_region(s, p); };
    const auto in = [&](state_id s) {
      return ((g.in_entry(s) | g.in_exit(s)) & ~crashed) != 0 && (crashed & ~(g.in_entry(s) | g.in_exit(s))) == 0;
    };
    const bool finished = parts.for_each(
        in, follows,
        [&](std::span<const state_id> members, auto&& same) {
          process_set stepping = 0, always_able = ~process_set{0};
          for (const state_id s : members) {
            for (int p = 0; p < N; ++p) {
              const state_id t = g.next(s, p);
              if (t == no_state)
                always_able &= ~only(p);
              else if (follows(s, p) && in(t) && same(t))
                stepping |= only(p);
            }
          }
          const state_id s = members.front();
          const process_set protocols = g.in_entry(s) | g.in_exit(s);
          if ((protocols & ~crashed & always_able & ~stepping) != 0) return true;  // unfair to somebody
          const int trying = std::popcount(g.in_entry(s)), free = k - std::popcount(who.inside(s));
          const int wanted = std::min(trying, free);
          const bool exit_stuck = (g.in_exit(s) & ~crashed) != 0;
          if (wanted <= 0 && !exit_stuck) return true;
          const auto [place, fresh] = judged.try_emplace(s, false);
          if (fresh) place->second = wanted > 0 && allocated_places(g, who, s, wanted) < wanted;
          if (!place->second && !exit_stuck) return true;
          state_id entry = s;
          for (const state_id m : members)
            if (d.of(m) < d.of(entry)) entry = m;
          if (d.of(entry) >= depth) return true;
          depth = d.of(entry);
          lasso found{entry, {}, -1, crashed};
          const std::unordered_set<state_id> all(members.begin(), members.end());
          const auto within = [&](state_id at, int p) { return follows(at, p) && all.contains(g.next(at, p)); };
          state_id here = entry;
          const auto walk = [&](const std::vector<int>& steps) {
            for (const int p : steps) {
              found.cycle.push_back(p);
              here = g.next(here, p);
            }
          };
          for (int p = 0; p < N; ++p)
            if (has(stepping, p) && std::find(found.cycle.begin(), found.cycle.end(), p) == found.cycle.end())
              walk(way_to_step(g, here, within, [&](state_id at, int q) { return q == p && within(at, q); }));
          if (here != entry)
            walk(way_to_step(g, here, within,
                             [&](state_id at, int q) { return within(at, q) && g.next(at, q) == entry; }));
          result.found = std::move(found);
          return true;
        },
        w);
    if (!finished) {
      result.complete = false;
      return result;
    }
  }
  return result;
}

}  // namespace kgate::lab
