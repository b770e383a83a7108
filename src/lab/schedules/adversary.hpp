// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Schedules that try to make a passage expensive. What they find is a lower estimate of the worst case: no search here
/// is exhaustive.

#include <cstdint>

#include "lab/schedules/machine.hpp"

namespace kgate::lab::schedules {

struct adversary_options {
  std::uint64_t seed = 1;
  std::uint64_t steps = 200'000;
  int contention = 0;  ///< > 0: at most so many processes outside their remainder at a time
};

struct adversary_result {
  int worst = 0;  ///< remote references of the most expensive finished passage
  std::uint64_t passages = 0;
  bool over_admitted = false;  ///< more than k were inside
};

/// Runs the arena for a number of steps. Every few dozen steps it draws afresh which processes are fast, which are slow
/// and which stand still, inside or out; stalled holders make queues, stalled waiters are overtaken. A waiting process
/// looks again now and then, as a busy wait does.
adversary_result harass(any_arena& arena, int k, const adversary_options& options);

}  // namespace kgate::lab::schedules
