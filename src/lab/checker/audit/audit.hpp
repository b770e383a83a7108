// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Does the program behave as its memoised automata say? A process that forgets too much (an incomplete `live`, a frame
/// around something that is used later) merges local states that differ, and everything explored afterwards would be
/// about another algorithm. The audit runs the text on whole passages, everything in them remembered, and compares
/// every access, with the local state it is made in, with what the automaton has.
///
/// First by what is known of each automaton (local_audit.hpp), then by random runs of all processes. docs/checker.md
/// says what this finds and what it cannot find.

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "lab/checker/model/program.hpp"

namespace kgate::lab {

struct audit_options {
  std::uint64_t seed = 1;
  /// How many accesses of the text are compared, about; so the audit is the same in every check with the same seed.
  std::uint64_t accesses = 200'000;
  int walks = 4;     ///< random runs, at least
  int steps = 1000;  ///< of each, at most
  /// Where a walk starts: the schedule that leads there, from the initial state. None: at the initial state.
  std::function<std::vector<int>(std::mt19937_64&)> start{};
  bool invariant_holds = false;  ///< it was true in all states: so it must be in the random runs
};

/// How many of the tests of one kind were made.
struct audit_count {
  std::uint64_t made = 0;
  std::uint64_t all = 0;
};

struct audit_result {
  std::string difference;   ///< empty if all agreed, else where they first did not
  audit_count steps_again;  ///< known steps of a process, run once more
  audit_count merged;       ///< histories that came to a local state known already, continued in all ways
  audit_count loops;        ///< steps on a cycle of an automaton, gone round loop_rounds times
  std::uint64_t walks = 0;
  std::uint64_t steps = 0;     ///< of the walks
  std::uint64_t passages = 0;  ///< of all processes, complete, in walks
  std::uint64_t accesses = 0;  ///< of the text, all in all
  double seconds = 0;

  bool made() const { return accesses > 0; }
};

/// How often a loop is gone round, if that makes no more accesses than passage_max, and how often a predicate is called
/// on one value.
inline constexpr int loop_rounds = 1000;
inline constexpr int predicate_repeats = 1000;
/// A passage longer than this is compared and ended.
inline constexpr std::size_t passage_max = 20'000;

/// Throws text_error if the text breaks another rule than that of remembering.
audit_result audit(program& p, const audit_options& options);

}  // namespace kgate::lab
