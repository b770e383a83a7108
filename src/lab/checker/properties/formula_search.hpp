// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Looks for a fair run that violates a formula: on the states together with an automaton of the negated formula.

#include <optional>
#include <vector>

#include "lab/checker/claims/formula.hpp"
#include "lab/checker/graph/graph.hpp"

namespace kgate::lab {

/// A run that violates a formula: steps of the graph from the initial state, then `cycle` for ever (empty: no process
/// moves any more).
struct violating_run {
  std::vector<int> steps;
  std::vector<int> cycle;
  process_set crashed = 0;
};

struct formula_result {
  bool complete = true;
  std::optional<violating_run> found;
};

/// Of the runs found the one that is on its cycle soonest is given. A crash is an exemption from fairness, as in
/// liveness.hpp.
formula_result find_violation(exploration& e, const state_graph& g, const temporal_formula& f, fairness_kind fairness,
                              int crashes, const run_limits& limits, watch& w);

}  // namespace kgate::lab
