// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Checks a program against properties: exploration, graph, verdicts, counterexamples.

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lab/checker/audit/audit.hpp"
#include "lab/checker/claims/property.hpp"
#include "lab/checker/explore/explorer.hpp"
#include "lab/checker/model/coverage.hpp"
#include "lab/checker/trace/trace.hpp"

namespace kgate::lab {

enum class verdict { holds, violated, undecided };
const char* to_string(verdict v);

struct property_result {
  std::string name;
  verdict is = verdict::undecided;
  /// More than 0: it holds in runs of so many passages of each process, and longer ones were not explored.
  int within_passages = 0;
  /// More than 0: it holds in runs with at most so many processes outside their remainder; others were not explored.
  int within_contention = 0;
  bool within_limits() const { return within_passages > 0 || within_contention > 0; }
  std::string why;  ///< a bound that was hit, a figure that was found
  std::optional<trace> counterexample;
  std::vector<std::pair<std::string, long>> figures;  ///< numbers that belong to the verdict
};

struct check_request {
  program_name of;
  std::vector<std::string> properties;
  int crashes = 0;
  int contention = 0;
  bool symmetry = false;
  run_limits limits;
  std::uint64_t seed = 1;  ///< of the audit
  /// Of the text, where they are known: a formula may name one that no run comes to.
  std::vector<std::string> labels{};
};

struct check_result {
  check_request request;
  std::uint64_t states = 0;
  std::uint64_t transitions = 0;
  std::uint64_t orbit_states = 0;
  double seconds = 0;
  double explore_seconds = 0;
  double bytes_per_state = 0;
  bool complete = false;
  bool breaks_rules = false;  ///< the text breaks a rule of the machine concept, and nothing was decided
  std::string why;
  std::vector<property_result> properties;
  audit_result audit;
  coverage reached;

  verdict overall() const;
  /// Nothing is violated or undecided, but something holds within the passages or the contention explored only.
  bool within_limits() const;
};

/// The verdict as it is written in JSON: "holds", "holds-within-passages", "holds-within-contention", "violated",
/// "undecided". What holds within passages may hold within a contention besides.
std::string_view verdict_id(const property_result& r);
std::string_view verdict_id(const check_result& r);

/// The result if nothing could be decided, or the text breaks a rule.
check_result nothing_decided(const check_request& request, const std::string& why);
check_result rules_broken(const check_request& request, const std::string& why);

/// Explores and decides. A text that breaks a rule of the machine concept, or forgets what it uses, gets nothing
/// decided.
check_result check(program& p, const check_request& request);

nlohmann::json to_json(const check_result& r, program& p);

}  // namespace kgate::lab
