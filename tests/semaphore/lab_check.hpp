// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How the tests of this room ask the checker.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "lab/checker/model/machine.hpp"
#include "lab/checker/properties/check.hpp"

namespace kgate::lab {

/// What a run may have beyond the usual.
struct unusual {
  std::string wrong = {};       ///< an error made on purpose
  int first_more = 0;           ///< passages of process 0 beyond those of the others
  std::uint64_t gigabytes = 3;  ///< of memory, at most
};

template <class Algorithm>
check_result verdicts(int N, int k, int passages, int crashes, std::vector<std::string> properties,
                      const unusual& run = {}) {
  program_options options{.passages = passages, .wrong = {}, .first_more = run.first_more};
  if (!run.wrong.empty()) options.wrong.push_back(mutation::parse(run.wrong));
  program p(make_model<Algorithm>(N, k), N, k, options);
  check_request request;
  request.properties = std::move(properties);
  request.crashes = crashes;
  request.limits.memory_max = run.gigabytes << 30;
  return check(p, request);
}

inline std::string text(const check_result& r) {
  std::string all = std::to_string(r.states) + " states" + (r.why.empty() ? "" : " (" + r.why + ")");
  if (!r.audit.difference.empty()) all += " (" + r.audit.difference + ")";
  for (const property_result& one : r.properties) all += ", " + one.name + " " + to_string(one.is);
  return all;
}

}  // namespace kgate::lab
