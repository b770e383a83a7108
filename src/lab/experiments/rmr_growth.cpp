// SPDX-License-Identifier: Apache-2.0
#include "lab/experiments/rmr_growth.hpp"

#include <algorithm>
#include <cmath>

namespace kgate::lab {

rmr_growth measure_growth(const catalog::choice& algorithm, const cost_model& cost, const rmr_growth_options& options) {
  rmr_growth result;
  for (int k = 1; k <= options.k_max; k *= 2) {
    const int N = 4 * k;
    const std::uint64_t steps = options.steps_per_process * static_cast<std::uint64_t>(std::max(N, 64));
    result.measured.push_back(sample_rmr(algorithm, N, k, cost, 0, steps));
  }
  // Least squares over x = log2 k, which is 0, 1, 2 ...
  const auto count = static_cast<double>(result.measured.size());
  double sum_x = 0, sum_y = 0, sum_xx = 0, sum_xy = 0;
  for (const rmr_measurement& m : result.measured) {
    const double x = std::log2(m.k);
    sum_x += x;
    sum_y += m.worst;
    sum_xx += x * x;
    sum_xy += x * m.worst;
  }
  const double spread = count * sum_xx - sum_x * sum_x;
  result.slope = spread > 0 ? (count * sum_xy - sum_x * sum_y) / spread : 0;
  result.constant = (sum_y - result.slope * sum_x) / count;
  for (const rmr_measurement& m : result.measured)
    result.deviation = std::max(result.deviation, std::abs(m.worst - result.constant - result.slope * std::log2(m.k)));
  return result;
}

}  // namespace kgate::lab
