// SPDX-License-Identifier: Apache-2.0
#include "lab/checker/properties/enabledness.hpp"

#include <atomic>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>

#include "kgate/detail/contracts.hpp"
#include "lab/checker/explore/parallel_for.hpp"
#include "lab/checker/graph/components.hpp"
#include "lab/checker/graph/routes.hpp"

namespace kgate::lab {

enabledness::enabledness(const state_graph& g, watch& w, int threads) : graph_(g), kept_out_(g.end(), 0) {
  std::atomic<bool> complete{true};
  parallel_for(threads, static_cast<std::size_t>(g.N()), [&](std::size_t p, bool reports) {
    if (reports) w.report("deciding who is enabled", p, static_cast<std::uint64_t>(g.N()) - p, g.bytes());
    if (complete && !decide(static_cast<int>(p), w)) complete = false;
  });
  complete_ = complete;
}

bool enabledness::decide(int p, watch& w) {
  components parts(graph_);
  const auto in = [&](state_id s) { return has(graph_.in_entry(s), p); };
  const auto known = [&](state_id s) {
    return has(std::atomic_ref<process_set>(kept_out_[s]).load(std::memory_order_relaxed), p);
  };
  // Components come in reverse topological order, so what they lead to is settled.
  return parts.for_each(
             in, [](state_id, int) { return true; },
             [&](std::span<const state_id> members, auto&& same) {
               const auto waits = [&](state_id s) {
                 if (graph_.next(s, graph_.first(p)) == no_state) return true;
                 for (int i = 0; i < graph_.steps(); ++i) {
                   const state_id t = graph_.next(s, i);
                   if (t == no_state || !in(t)) continue;
                   if ((graph_.owner(i) == p && same(t)) || known(t)) return true;
                 }
                 return false;
               };
               if (std::any_of(members.begin(), members.end(), waits))
                 for (const state_id s : members)
                   std::atomic_ref<process_set>(kept_out_[s]).fetch_or(only(p), std::memory_order_relaxed);
               return true;
             },
             w) &&
         w.why().empty();
}

namespace {

/// p alone from s, always by its first step: until it is blocked, or for ever round a cycle; none if it enters.
std::optional<enabledness::endless_wait> alone(const state_graph& g, state_id s, int p) {
  enabledness::endless_wait run;
  std::unordered_map<state_id, std::size_t> met;
  const int i = g.first(p);
  for (;; s = g.next(s, i)) {
    const auto [entry, fresh] = met.emplace(s, run.steps.size());
    run.loop = entry->second;
    if (!fresh) return run;
    if (g.next(s, i) == no_state) {
      run.loop = run.steps.size();
      return run;
    }
    if (g.enters(s, i)) return std::nullopt;
    run.steps.push_back(i);
  }
}

}  // namespace

enabledness::endless_wait enabledness::wait_of(state_id s, int p, watch& w) const {
  KGATE_EXPECTS(has(kept_out_[s], p), "an enabled process does not wait for ever");
  const auto stays = [&](state_id, int, state_id t) { return has(kept_out_[t], p); };
  const auto nowhere = [](state_id, int, state_id) { return false; };
  std::optional<endless_wait> found;
  const auto easy = shortest_route(
      graph_, s, stays,
      [&](state_id here) {
        found = alone(graph_, here, p);
        return found.has_value();
      },
      nowhere);
  if (easy) {
    found->loop += easy->steps.size();
    found->steps.insert(found->steps.begin(), easy->steps.begin(), easy->steps.end());
    return *found;
  }
  // The others keep it out by moving all the time: a component in which p steps, and a cycle through such a step.
  std::unordered_set<state_id> inside, reached;
  shortest_route(
      graph_, s, stays,
      [&](state_id here) {
        reached.insert(here);
        return false;
      },
      nowhere);
  components(graph_).for_each([&](state_id here) { return reached.contains(here); }, [](state_id, int) { return true; },
                              [&](std::span<const state_id> members, auto&& same) {
                                for (const state_id here : members)
                                  for (int i = graph_.first(p); i < graph_.first(p + 1); ++i) {
                                    const state_id t = graph_.next(here, i);
                                    if (t == no_state || !reached.contains(t) || !same(t)) continue;
                                    inside.insert(members.begin(), members.end());
                                    return false;
                                  }
                                return true;
                              },
                              w);
  const auto to = shortest_route(
      graph_, s, stays, [&](state_id here) { return inside.contains(here); }, nowhere);
  KGATE_EXPECTS(to.has_value(), "a process that is kept out has a cycle to go round");
  const auto within = [&](state_id, int, state_id t) { return inside.contains(t); };
  const auto turn = shortest_route(
      graph_, to->end, within, [](state_id) { return false; },
      [&](state_id, int i, state_id) { return graph_.owner(i) == p; });
  const auto back = shortest_route(
      graph_, turn->end, within, [&](state_id here) { return here == to->end; }, nowhere);
  endless_wait run{to->steps, to->steps.size()};
  run.steps.insert(run.steps.end(), turn->steps.begin(), turn->steps.end());
  run.steps.insert(run.steps.end(), back->steps.begin(), back->steps.end());
  return run;
}

}  // namespace kgate::lab
