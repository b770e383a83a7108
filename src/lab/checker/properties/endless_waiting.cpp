// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <span>
#include <unordered_set>

#include "lab/checker/graph/components.hpp"
#include "lab/checker/graph/fair_cycle.hpp"
#include "lab/checker/properties/enabling.hpp"

namespace kgate::lab {

namespace {

/// Looks for a fair component in which the victim waits throughout and another gets inside: round it that one comes
/// from its remainder each time. Keeps the component nearest to the start.
class endless_waiting_search {
 public:
  endless_waiting_search(const state_graph& g, const depths& d, const enabling& who, waits_for what)
      : graph_(g), depths_(d), who_(who), what_(what), parts_(g) {}

  /// For one victim and one set of failed processes; false if `w` ended it early.
  bool run(int victim, process_set failed, watch& w) {
    victim_ = victim;
    failed_ = failed;
    return parts_.for_each([this](state_id s) { return in(s); }, [this](state_id, int p) { return !has(failed_, p); },
                           [this](std::span<const state_id> members, auto&& same) {
                             judge(members, same);
                             return true;
                           },
                           w);
  }

  std::optional<lasso> found;

 private:
  bool in(state_id s) const {
    return has(waiting(graph_, who_, what_, s), victim_) && (failed_ & ~enabling::protocols(graph_, s)) == 0;
  }

  template <class Same>
  void judge(std::span<const state_id> members, Same&& same) {
    process_set stepping = 0, entering = 0, always_owing = ~failed_;
    for (const state_id s : members) {
      always_owing &= graph_.obliged(s) & enabling::protocols(graph_, s);
      for (int p = 0; p < graph_.N(); ++p) {
        const state_id t = graph_.next(s, p);
        if (t == no_state || has(failed_, p) || !in(t) || !same(t)) continue;
        stepping |= only(p);
        if (graph_.enters(s, p)) entering |= only(p);
      }
    }
    if (entering == 0 || (always_owing & ~stepping) != 0) return;
    const state_id entry = *std::min_element(members.begin(), members.end(),
                                             [&](state_id a, state_id b) { return depths_.of(a) < depths_.of(b); });
    if (!found || depths_.of(entry) < depths_.of(found->entry)) found = cycle_through(members, entry, stepping);
  }

  /// Over a step that enters and back to `entry`, then a fair way round.
  lasso cycle_through(std::span<const state_id> members, state_id entry, process_set stepping) const {
    const std::unordered_set<state_id> all(members.begin(), members.end());
    const auto within = [&](state_id, int p, state_id t) { return !has(failed_, p) && all.contains(t); };
    const auto never = [](auto...) { return false; };
    lasso run{entry, {}, victim_, failed_};
    const auto over =
        shortest_route(graph_, entry, within, never, [&](state_id s, int p, state_id) { return graph_.enters(s, p); });
    const auto back = shortest_route(
        graph_, over->end, within, [&](state_id s) { return s == entry; }, never);
    for (const std::vector<int>& steps :
         {over->steps, back->steps, fair_cycle(graph_, entry, within, ~failed_, 0, stepping)})
      run.cycle.insert(run.cycle.end(), steps.begin(), steps.end());
    return run;
  }

  const state_graph& graph_;
  const depths& depths_;
  const enabling& who_;
  waits_for what_;
  components<state_graph> parts_;
  int victim_ = -1;
  process_set failed_ = 0;
};

}  // namespace

liveness_result find_endless_waiting(const state_graph& g, const depths& d, const enabling& who, waits_for what,
                                     int crashes, watch& w) {
  liveness_result result;
  endless_waiting_search search(g, d, who, what);
  for (const process_set failed : sets_up_to(g.N(), crashes))
    for (int victim = 0; victim < g.N() && result.complete; ++victim) result.complete = search.run(victim, failed, w);
  result.found = std::move(search.found);
  return result;
}

}  // namespace kgate::lab
