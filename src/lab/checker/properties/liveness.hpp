// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Properties of infinite runs, decided on the state graph.
///
/// A crash is an exemption from fairness: for every set F of at most `crashes` processes, the steps of F are dropped
/// and F owes nothing. A run of the others is fair if each of them that is outside its remainder and could move from
/// some point on does move. Such a run ends in a strongly connected component in which every process outside F takes a
/// step or is somewhere unable (or, in its remainder, not obliged) to; and every such component carries a fair run. So
/// each question below is: is there a component that is fair and bad?

#include <optional>
#include <vector>

#include "lab/checker/graph/graph.hpp"
#include "lab/checker/graph/quotient.hpp"

namespace kgate::lab {

/// A bad infinite run: a path to `entry`, then `cycle` for ever (empty: no process moves any more).
struct lasso {
  state_id entry = no_state;
  std::vector<int> cycle;  ///< the steps of the graph, in order
  int victim = -1;         ///< the process the property is broken for; -1: all that wait
  process_set crashed = 0;
};

struct liveness_result {
  bool complete = true;
  std::optional<lasso> found;
};

/// A process outside F that stays in its entry for ever.
liveness_result find_starvation(const state_graph& g, const depths& d, int crashes, watch& w, int threads);

/// The same, on states reduced by symmetry. The names in the lasso are those of the reduced state
/// `entry`, its number that of the store.
liveness_result find_starvation(const quotient_graph& g, const depths& d, int crashes, watch& w,
                                const run_limits& limits, std::uint64_t bytes_used);

/// A run in which no process enters any more although a process outside F is in its entry: blocked, or busy to no
/// effect.
liveness_result find_deadlock(const state_graph& g, const depths& d, int crashes, watch& w, int threads);

/// A process that takes steps in its exit for ever.
liveness_result find_endless_exit(const state_graph& g, const depths& d, watch& w, int threads);

/// All sets of at most `size` of N processes.
std::vector<process_set> sets_up_to(int N, int size);

}  // namespace kgate::lab
