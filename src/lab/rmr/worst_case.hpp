// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The most remote memory references one passage can cost, over all schedules: a longest path on the states together
/// with the cache of one process. A cycle on which it keeps paying is reported as unbounded.

#include <string>
#include <vector>

#include "lab/checker/explore/explorer.hpp"
#include "lab/rmr/cost_model.hpp"

namespace kgate::lab {

struct rmr_result {
  bool complete = false;
  std::string why;  ///< why not complete
  bool unbounded = false;
  int worst = 0;
  int process = -1;                 ///< whose passage it is
  std::vector<std::string> labels;  ///< the paper's labels of its remote references, in order
  std::uint64_t states = 0;         ///< of the largest search: states with cache contents
  double seconds = 0;
};

/// `contention` > 0: over the runs in which at most that many processes are outside their remainder.
/// `processes`: those whose passages are looked at; empty: all.
rmr_result worst_rmr(program& p, const cost_model& cost, int contention, const run_limits& limits,
                     const std::vector<int>& processes = {});

}  // namespace kgate::lab
