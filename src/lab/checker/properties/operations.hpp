// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Linearizability and wait-freedom of a shared object, by all interleavings of a bounded number of operations.
///
/// The program's passages are the operations: an entry carries one out, and the name with which it ends is its result.
/// So the texts that are explored are those of the object itself.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "lab/checker/model/program.hpp"

namespace kgate::lab {

/// What the results are held against.
struct sequential_specification {
  std::string initial;
  /// Carries out the nth operation of a process (from 0) on the state, and returns its result.
  std::function<int(std::string& state, int process, int nth)> apply;
};

struct operations_request {
  sequential_specification object;
  std::uint64_t states_max = 20'000'000;
  /// Variables whose name begins with one of these are accessed by one process only. Its steps on them are taken at
  /// once: they can neither help nor hinder another process, and an operation that ends earlier is harder to explain,
  /// not easier.
  std::vector<std::string> own_variables;
};

struct operations_result {
  std::uint64_t states = 0;
  std::uint64_t steps = 0;
  std::uint64_t histories = 0;  ///< distinct: which operations began and ended, with which results, in which order
  bool complete = false;        ///< false: states_max was reached, or the search ended at a fault
  bool linearizable = true;
  bool waited = false;        ///< a process was at a wait that was not over
  int own_steps_max = 0;      ///< of one operation, over all schedules
  std::vector<int> schedule;  ///< a shortest run that is not linearizable
  std::string why;            ///< what was observed in it
};

/// The program must have a limited number of passages. Operations that have begun and not ended may have taken effect
/// or not; since every prefix of every run is looked at, every stall of any processes at any points is among them.
operations_result explore_operations(program& p, const operations_request& request);

struct operations_walks {
  sequential_specification object;
  std::uint64_t walks = 1000;
  std::uint32_t seed = 1;
};

/// Random runs instead of all, for more processes and operations: they can show that the object is not linearizable, by
/// a schedule that was made short, and nothing else. `histories` is how many runs were made. A process that is put to
/// sleep for long has crashed as far as the others can tell.
operations_result search_operations(program& p, const operations_walks& request);

/// Whether the results of the operations can be explained wherever one ends in this schedule: a replay of what a search
/// found.
bool is_explicable(program& p, const sequential_specification& object, const std::vector<int>& schedule);

}  // namespace kgate::lab
