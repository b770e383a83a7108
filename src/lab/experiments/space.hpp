// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The values that the shared memory of Fischer et al.'s systems takes, beside the bounds of their paper.

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/row.hpp"
#include "lab/checker/explore/explorer.hpp"

namespace kgate::lab {

/// One algorithm at one size. A bound that the paper does not give has an empty formula.
struct space_cell {
  std::string algorithm;
  int N = 0;
  int k = 0;
  std::uint64_t values = 0;  ///< distinct contents of all shared variables together
  bool exhaustive = false;   ///< else a lower estimate, from random runs and what was explored
  std::string upper_formula;
  double upper = 0;
  std::string lower_formula;
  double lower = 0;

  bool within() const {
    return (upper_formula.empty() || static_cast<double>(values) <= upper) &&
           (lower_formula.empty() || !exhaustive || static_cast<double>(values) >= lower);
  }
};

/// The algorithms of which the paper gives bounds.
const std::vector<std::string_view>& space_algorithms();

/// Explores within the limits, without regard to which process is which where that changes no count; random runs first,
/// so that a search that is cut short has at least met crowded systems.
space_cell measure_space(const std::string& algorithm, int N, int k, const run_limits& limits);
/// The same of a program of any algorithm whose variables are bounded; without bounds if the paper gives none.
space_cell measure_space(program& p, const catalog::choice& algorithm, const run_limits& limits);

nlohmann::json to_json(const space_cell& c);

}  // namespace kgate::lab
