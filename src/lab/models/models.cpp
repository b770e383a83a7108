// SPDX-License-Identifier: Apache-2.0
#include "lab/models/models.hpp"

#include "catalog/catalog.hpp"

namespace kgate::lab {

catalog::choice find_algorithm(std::string_view id) { return catalog::find(id); }

std::vector<const catalog::row*> algorithm_rows() { return {catalog::rows.begin(), catalog::rows.end()}; }

std::unique_ptr<model> make_model(const catalog::choice& algorithm, int N, int k, register_kind registers) {
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
