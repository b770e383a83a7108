// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Checks a program against properties: exploration, graph, verdicts, counterexamples.

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lab/checker/explore/explorer.hpp"
#include "lab/checker/trace/trace.hpp"

namespace kgate::lab {

enum class verdict { holds, violated, undecided };
const char* to_string(verdict v);

struct property_result {
  std::string name;
  verdict is = verdict::undecided;
  std::string why;                                      ///< a bound that was hit, a figure that was found
  std::optional<trace> counterexample;
  std::vector<std::pair<std::string, long>> figures;    ///< numbers that belong to the verdict
};

struct check_request {
  program_name of;
  std::vector<std::string> properties;
  int crashes = 0;
  int contention = 0;
  bool symmetry = false;
  run_limits limits;
};

struct check_result {
  check_request asked;
  std::uint64_t states = 0;
  std::uint64_t transitions = 0;
  std::uint64_t orbit_states = 0;
  double seconds = 0;
  double explore_seconds = 0;
  double bytes_per_state = 0;
  bool complete = false;
  std::string why;
  std::vector<property_result> properties;

  verdict overall() const;
};

/// The properties check() knows, in the order in which it prints them.
const std::vector<std::string_view>& known_properties();
/// Those that can be decided on states reduced by symmetry.
bool decided_by_symmetry(std::string_view property);

check_result check(program& p, const check_request& request);

nlohmann::json to_json(const check_result& r, program& p);

}  // namespace kgate::lab
