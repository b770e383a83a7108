// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Does the program behave as its memoised automata say? A process that forgets too much (an incomplete `live`, a frame
/// around something that is used later) merges local states that differ, and everything explored afterwards would be
/// about another algorithm. The audit walks at random and keeps, for each process, everything it really observed in its
/// passage; the text is then run on all of it, and every access compared with what the automaton made.

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "lab/checker/model/program.hpp"

namespace kgate::lab {

struct audit_options {
  std::uint64_t seed = 1;
  int walks = 20;      ///< at least
  int steps = 400;     ///< of each walk, at most
  double seconds = 0;  ///< walks go on until so much time has passed
  /// Where a walk starts: the schedule that leads there, from the initial state. None: at the initial state.
  std::function<std::vector<int>(std::mt19937_64&)> start{};
};

struct audit_result {
  std::string difference;  ///< empty if all agreed, else where they first did not
  std::uint64_t walks = 0;
  std::uint64_t steps = 0;
  std::uint64_t passages = 0;  ///< of all processes, complete
  double seconds = 0;
};

audit_result audit(program& p, const audit_options& options);

}  // namespace kgate::lab
