// SPDX-License-Identifier: Apache-2.0
#include "lab/checker/trace/way.hpp"

#include <algorithm>
#include <memory>

#include "kgate/detail/contracts.hpp"
#include "lab/checker/explore/symmetry.hpp"

namespace kgate::lab {

way way_to(exploration& e, state_id s, bool symmetry) {
  std::vector<state_id> path;
  for (; s != no_state; s = e.store->parent(s)) path.push_back(s);
  std::reverse(path.begin(), path.end());
  way found;
  with_words(e.store->words(), [&]<unsigned W>() {
    std::unique_ptr<canonical_form> canonical = symmetry ? std::make_unique<canonical_form>(*e.table) : nullptr;
    std::uint64_t here[W], reduced[W];
    e.table->initial_state(here);
    for (std::size_t i = 1; i < path.size(); ++i) {
      std::uint64_t from[W];
      std::copy_n(here, W, from);
      int mover = -1;
      for_each_step<W>(
          *e.table, no_observer{}, e.contention, from,
          [&](const step& it, const std::uint64_t* to) {
            if (mover >= 0) return;
            std::copy_n(to, W, reduced);
            if (canonical) canonical->reduce(reduced);
            if (!std::equal(reduced, reduced + W, e.store->record(path[i]))) return;
            mover = scheduled(it.p, it.choice);
            std::copy_n(to, W, here);
          },
          [](const step&) {});
      KGATE_EXPECTS(mover >= 0, "a stored state is not a successor of its parent");
      found.schedule.push_back(mover);
    }
    std::copy_n(here, W, reduced);
    if (canonical) found.called = canonical->reduce(reduced).inverse();
  });
  return found;
}

}  // namespace kgate::lab
