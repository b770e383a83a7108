// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The catalogue's algorithms on the checker's machine: the one place where the laboratory meets the algorithm texts.

#include <memory>
#include <vector>

#include "kgate/algorithms/catalog_row.hpp"
#include "lab/checker/machine.hpp"

namespace kgate::lab {

/// The algorithm with this id, which may end in "+names"; false if there is none.
catalog::choice find_algorithm(std::string_view id);

/// All rows, in the order of the catalogue.
std::vector<const catalog::row*> algorithm_rows();

/// N and k must be allowed by the row.
std::unique_ptr<model> make_model(const catalog::choice& algorithm, int N, int k);

}  // namespace kgate::lab
