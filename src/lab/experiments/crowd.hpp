// SPDX-License-Identifier: Apache-2.0
#pragma once

/// All states of identical processes around one shared variable that names none of them. Which process is which does
/// not matter then: a state is the variable's value and the local states of the processes in ascending order, and
/// process 0 can stand for all. So there is no limit on N, as there is where renamings are tried one by one.

#include <cstdint>

#include "lab/checker/explore/explorer.hpp"

namespace kgate::lab {

struct crowd_states {
  std::uint64_t states = 0;  ///< up to renaming processes
  bool complete = false;
};

/// A random run in which arrivals are now rare, now frequent, so that both empty and crowded systems are seen.
void walk_crowd(program& p, long steps, const run_limits& limits);

/// Explores within the limits. As after a random run, the values that the variable took are in the program's table of
/// them.
crowd_states explore_crowd(program& p, const run_limits& limits);

}  // namespace kgate::lab
