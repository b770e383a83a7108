// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How the remote references of a passage grow with k: measured for k = 1, 2, 4 ..., and fitted by a + b log2 k.

#include <vector>

#include "lab/experiments/rmr_table.hpp"

namespace kgate::lab {

struct rmr_growth {
  std::vector<rmr_measurement> measured;  ///< N = 4k, at least 4: the worst found by schedules, a lower estimate
  double constant = 0;                    ///< a
  double slope = 0;                       ///< b, for each doubling of k
  double deviation = 0;                   ///< the largest distance of a measurement from the fit
};

struct rmr_growth_options {
  int k_max = 256;
  std::uint64_t steps_per_process = 1500;
};

rmr_growth measure_growth(const catalog::choice& algorithm, const cost_model& cost, const rmr_growth_options& options);

}  // namespace kgate::lab
