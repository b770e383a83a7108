// SPDX-License-Identifier: Apache-2.0
#include "lab/models/promises.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lab/checker/properties/check.hpp"
#include "lab/checker/properties/schedule_search.hpp"

namespace kgate::lab {

std::vector<std::string> promised_properties(const catalog::promises& promise) {
  std::vector<std::string> all;
  const auto add = [&](bool promised, const char* name) {
    if (promised) all.emplace_back(name);
  };
  add(promise.k_exclusion, "k-exclusion");
  add(promise.deadlock_free, "deadlock-free");
  add(promise.starvation_free, "starvation-free");
  add(promise.bounded_exit, "bounded-exit");
  add(promise.names, "distinct-names");
  add(promise.k_fcfs, "k-fcfs");
  add(promise.fife, "fife");
  add(promise.l_queuelike, "l-queuelike");
  add(promise.overtakings_max >= 0, "bounded-waiting");
  for (std::size_t at = 0; at < promise.more.size();) {
    const std::size_t end = std::min(promise.more.find(' ', at + 1), promise.more.size());
    all.emplace_back(promise.more.substr(at + 1, end - at - 1));
    at = end;
  }
  return all;
}

std::vector<std::string> searched_promises(const catalog::choice& algorithm) {
  std::vector<std::string> all;
  for (std::string& id : promised_properties(algorithm.promise())) {
    if (id == "bounded-waiting" && algorithm.promise().overtakings_max >= 0)
      id += fmt::format(":{}", algorithm.promise().overtakings_max);
    if (can_be_searched(id)) all.push_back(std::move(id));
  }
  return all;
}

namespace {

/// A bound on the remote references on distributed memory is a promise to wait locally.
bool waits_locally(const catalog::row& row) {
  return std::any_of(row.bounds.begin(), row.bounds.end(), [](const catalog::rmr_bound& one) {
    return one.model == catalog::rmr_model::dsm && one.when == catalog::bound_case::always && one.at != nullptr &&
           one.at(2, 1, 2) != catalog::unbounded;
  });
}

/// All that a row promises.
std::vector<std::string> promised_by(const catalog::choice& algorithm) {
  std::vector<std::string> all = promised_properties(algorithm.promise());
  if (waits_locally(*algorithm.base)) all.emplace_back("local-waiting");
  return all;
}

}  // namespace

std::vector<std::string> default_properties(const catalog::choice& algorithm, bool symmetry) {
  const auto promised = promised_by(algorithm);
  std::vector<std::string> chosen;
  for (const property& one : properties()) {
    if (!one.basic && std::find(promised.begin(), promised.end(), one.id) == promised.end()) continue;
    if (!symmetry || one.by_symmetry) chosen.emplace_back(one.id);
  }
  return chosen;
}

bool is_promised(const catalog::choice& algorithm, std::string_view property, int N, int k, int crashes) {
  const catalog::promises promise = algorithm.promise();
  const auto all = promised_by(algorithm);
  if (std::find(all.begin(), all.end(), property) == all.end()) return false;
  return !find_property(property)->progress || crashes <= catalog::crashes_max(promise, N, k);
}

std::string_view despite_text(catalog::crashes despite) {
  switch (despite) {
    case catalog::crashes::none:
      return "no crash";
    case catalog::crashes::k_minus_one:
      return "at most k-1 crashes";
    case catalog::crashes::any:
      return "any number of crashes";
  }
  return "?";
}

std::string figure_text(const catalog::row& row) {
  const bool number = !row.figure.empty() && row.figure[0] >= '0' && row.figure[0] <= '9';
  return fmt::format("{}{}", number ? "figure " : "", row.figure);
}

std::string source_text(const catalog::row& row) {
  const std::string text = fmt::format("{}, {}", row.paper, figure_text(row));
  return row.theorem.empty() ? text : fmt::format("{}; {}", text, row.theorem);
}

}  // namespace kgate::lab
