// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Does the program behave as its memoised automata say? A process that forgets too much (an incomplete `live`, a frame around
/// something that is used later) merges local states that differ, and everything explored afterwards would be about another
/// algorithm. The audit walks at random and keeps, for each process, everything it really observed; at every step it runs the
/// text on the full history and compares what it does with what the automaton says.

#include <cstdint>
#include <string>

#include "lab/checker/model/program.hpp"

namespace kgate::lab {

struct audit_options {
  std::uint64_t seed = 1;
  int walks = 20;
  int steps = 400;  ///< of each walk
};

/// Empty if all agreed, else where they first did not.
std::string audit(program& p, const audit_options& options);

}  // namespace kgate::lab
