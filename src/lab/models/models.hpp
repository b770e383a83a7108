// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The catalogue's algorithms on the checker's machine: the one room where the laboratory meets the algorithm texts.

#include <functional>
#include <memory>
#include <vector>

#include "catalog/row.hpp"
#include "lab/checker/model/machine.hpp"

namespace kgate::lab {

/// The algorithm with this id, which may end in "+names"; false if there is none.
catalog::choice find_algorithm(std::string_view id);

/// All rows, in the order of the catalogue.
std::vector<const catalog::row*> algorithm_rows();

/// How to make the model of an algorithm.
using model_maker = std::function<std::unique_ptr<model>(int N, int k, register_kind registers)>;

/// From now on make_model() takes this row too, which must stay where it is. Not while another thread makes a model.
void add_algorithm(const catalog::row& about, model_maker make);

/// N and k must be allowed by the row.
std::unique_ptr<model> make_model(const catalog::choice& algorithm, int N, int k, register_kind registers = {});

/// Safe registers whose domain suffices for this many passages of each process, which must be limited.
constexpr register_kind safe_registers(int N, int passages) {
  return {.safe = true, .domain_max = static_cast<std::uint64_t>(N) * static_cast<std::uint64_t>(passages) + 1};
}

}  // namespace kgate::lab
