// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A random search for starvation beyond the sizes that can be explored: it can find, not exclude.
///
/// Stale writers are what breaks algorithms with helping, so the walks make them: a process that is about to write is
/// often put to sleep there for a random and sometimes very long time. Whenever a process ends a passage, the walk asks
/// whether it has come to a bad end: somebody waits with nothing left to change it, as nothing it looks at would let it
/// in, and at most `crashes` processes outside their remainder could still move. If those crash, it waits for ever.

#include <cstdint>
#include <optional>

#include "lab/checker/trace/trace.hpp"

namespace kgate::lab {

struct stall_search_options {
  int crashes = 0;
  std::uint64_t walks = 1000;
  std::uint32_t seed = 1;
  int passages = 20;        ///< of all processes together, in one walk
  double sleepiness = 0.8;  ///< how often a process falls asleep before it writes
};

struct stall_search_result {
  std::optional<trace> found;  ///< a violation of starvation-free
  std::uint64_t walks = 0;     ///< made until then
  std::uint64_t steps = 0;
};

stall_search_result search_for_stalls(program& p, const program_name& of, const stall_search_options& options);

/// The same violation in fewer steps, as far as leaving steps out of the schedule leads.
trace shortened(const trace& t, program& p);

}  // namespace kgate::lab
