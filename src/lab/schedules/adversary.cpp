// SPDX-License-Identifier: Apache-2.0
#include "lab/schedules/adversary.hpp"

#include <algorithm>
#include <random>
#include <vector>

namespace kgate::lab::schedules {

namespace {

/// The pace of the processes in one stretch of a run: a share of them stands still, one may be the favourite.
std::vector<double> draw_pace(std::mt19937_64& random, int N) {
  std::uniform_real_distribution<double> unit(0, 1);
  const double stalled = unit(random) * 0.9;
  const bool favourite = unit(random) < 0.5;
  std::vector<double> pace(static_cast<std::size_t>(N));
  for (double& one : pace) one = unit(random) < stalled ? 0.0 : 1.0;
  if (favourite) pace[std::uniform_int_distribution<std::size_t>(0, pace.size() - 1)(random)] = N;
  if (std::all_of(pace.begin(), pace.end(), [](double one) { return one == 0; }))
    std::fill(pace.begin(), pace.end(), 1.0);
  return pace;
}

}  // namespace

adversary_result harass(any_arena& arena, int k, const adversary_options& options) {
  std::mt19937_64 random(options.seed);
  const int N = arena.size();
  adversary_result result;
  int outside = 0;
  std::vector<double> pace = draw_pace(random, N);
  std::discrete_distribution<int> next(pace.begin(), pace.end());
  std::uint64_t stretch = 0;
  for (std::uint64_t i = 0; i < options.steps; ++i) {
    if (stretch-- == 0) {
      pace = draw_pace(random, N);
      next = std::discrete_distribution<int>(pace.begin(), pace.end());
      stretch = std::uniform_int_distribution<std::uint64_t>(1, 40 + 20 * static_cast<std::uint64_t>(N))(random);
    }
    const int p = next(random);
    const machine::Process& it = arena[p];
    if (it.next() == step_kind::start && options.contention > 0 && outside >= options.contention) continue;
    const region before = it.where();
    arena.step(p);
    if (before == region::remainder && it.where() != region::remainder) ++outside;
    if (before != region::remainder && it.where() == region::remainder) {
      --outside;
      ++result.passages;
      result.worst = std::max(result.worst, it.remote_references());
    }
    if (it.where() == region::critical && arena.inside() > k) result.over_admitted = true;
  }
  return result;
}

}  // namespace kgate::lab::schedules
