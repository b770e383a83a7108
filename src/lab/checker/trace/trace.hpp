// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A counterexample: which process steps when, which crash, and, for infinite runs, what repeats. Everything else is
/// found again by running it.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "lab/checker/model/walker.hpp"

namespace kgate::lab {

/// The program a trace belongs to.
struct program_name {
  std::string algorithm;
  int N = 0;
  int k = 0;
  int passages = 0;
  mutations wrong;
  bool safe_registers = false;  ///< --memory safe
  bool any_order = false;       ///< --forall any
};

struct trace {
  program_name of;
  std::string property;
  std::string what;           ///< the violation in a sentence
  std::vector<int> schedule;  ///< the process of each step: numbers, or see scheduled()
  int loop = -1;              ///< the steps from here on repeat for ever; -1: a finite run
  int victim = -1;
  std::vector<int> crashed;  ///< do not step from `loop` on (finite run: after its end)

  /// The shell command that replays it.
  std::string replay_command() const;
};

/// "more than 1 process is inside".
std::string too_many_inside(int k);

/// A schedule as 0,1x3,2?4: process 0, three steps of process 1, process 2 with the fourth other value that it can read
/// there.
std::string schedule_text(const std::vector<int>& schedule);
/// Throws std::invalid_argument that says what is allowed.
std::vector<int> parse_schedule(const std::string& text);

/// The trace step by step, with the paper's labels and the shared variables; for people.
std::string describe(const trace& t, program& p);
/// The same for machines; see docs/trace-format.md.
nlohmann::json to_json(const trace& t, program& p);
/// What a trace file says; the steps are not read, they follow. Throws std::invalid_argument.
trace trace_from_json(const nlohmann::json& j);

/// Why a property says nothing of a program that lacks what it needs.
inline constexpr const char* no_invariant = "not applicable: the algorithm's text has no invariant beside it";
inline constexpr const char* not_atomic = "decided on atomic registers only";
inline constexpr const char* no_names = "not applicable: the algorithm's text gives no names";

/// Runs the trace and judges whether it shows what it claims, by the definition of the property and without the
/// explorer. Empty if it does, else what is wrong.
std::string validate(const trace& t, program& p);

}  // namespace kgate::lab
