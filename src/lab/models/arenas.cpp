// SPDX-License-Identifier: Apache-2.0
#include "lab/models/arenas.hpp"

#include "catalog/catalog.hpp"

namespace kgate::lab {

std::unique_ptr<schedules::any_arena> make_arena(const catalog::choice& algorithm, int N, int k,
                                                 const cost_model& cost) {
  using schedules::arena;
  using schedules::machine;
  std::unique_ptr<schedules::any_arena> made;
  catalog::for_each([&](const catalog::row& row, auto tag) {
    if (row.id != algorithm.base->id) return;
    using tag_type = decltype(tag);
    if (algorithm.with_names)
      made = std::make_unique<arena<typename catalog::names_over<tag_type>::template on<machine>>>(N, k, cost);
    else
      made = std::make_unique<arena<typename tag_type::template on<machine>>>(N, k, cost);
  });
  return made;
}

}  // namespace kgate::lab
