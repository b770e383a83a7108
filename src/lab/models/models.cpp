// SPDX-License-Identifier: Apache-2.0
#include "lab/models/models.hpp"

#include <unordered_map>
#include <utility>

#include "catalog/catalog.hpp"

namespace kgate::lab {

catalog::choice find_algorithm(std::string_view id) { return catalog::find(id); }

std::vector<const catalog::row*> algorithm_rows() { return {catalog::rows.begin(), catalog::rows.end()}; }

namespace {

std::unordered_map<const catalog::row*, model_maker>& added_algorithms() {
  static std::unordered_map<const catalog::row*, model_maker> all;
  return all;
}

}  // namespace

void add_algorithm(const catalog::row& about, model_maker make) {
  added_algorithms().insert_or_assign(&about, std::move(make));
}

std::unique_ptr<model> make_model(const catalog::choice& algorithm, int N, int k, register_kind registers) {
  if (const auto added = added_algorithms().find(algorithm.base); added != added_algorithms().end())
    return added->second(N, k, registers);
  std::unique_ptr<model> made;
  catalog::for_each([&](const catalog::row& row, auto tag) {
    if (row.id != algorithm.base->id) return;
    using tag_type = decltype(tag);
    if (algorithm.with_names)
      made = make_model<typename catalog::names_over<tag_type>::template on<checker_machine>>(N, k, registers);
    else
      made = make_model<typename tag_type::template on<checker_machine>>(N, k, registers);
  });
  return made;
}

}  // namespace kgate::lab
