// SPDX-License-Identifier: Apache-2.0
#include "lab/models/arenas.hpp"

#include <unordered_map>
#include <utility>

#include "catalog/catalog.hpp"

namespace kgate::lab {

namespace {

std::unordered_map<const catalog::row*, arena_maker>& added_arenas() {
  static std::unordered_map<const catalog::row*, arena_maker> all;
  return all;
}

}  // namespace

void add_arena(const catalog::row& about, arena_maker make) {
  added_arenas().insert_or_assign(&about, std::move(make));
}

std::unique_ptr<schedules::any_arena> make_arena(const catalog::choice& algorithm, int N, int k,
                                                 const cost_model& cost) {
  using schedules::arena;
  using schedules::machine;
  if (const auto added = added_arenas().find(algorithm.base); added != added_arenas().end())
    return added->second(N, k, cost);
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
