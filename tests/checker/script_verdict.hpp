// SPDX-License-Identifier: Apache-2.0
#pragma once

/// One exploration of processes that perform scripts, and its verdict.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "lab/checker/properties/check.hpp"
#include "lab/checker/trace/trace.hpp"

namespace kgate::lab {

struct script_verdict {
  bool holds = true;
  bool violated = false;  ///< by a run that was judged again; undecided is neither
  std::uint64_t states = 0;
  std::string text;
};

/// Judges the invariant and progress of `p`, whose processes perform one script each.
inline script_verdict judge_scripts(program& p, const std::string& name, int processes, int k,
                                    std::uint64_t memory_max) {
  check_request request;
  request.of = {name, processes, k, 1, {}};
  request.properties = {"invariant", "deadlock-free", "starvation-free"};
  request.crashes = 0;
  request.limits.threads = 2;
  request.limits.memory_max = memory_max;
  const check_result result = check(p, request);
  script_verdict out;
  out.states = result.states;
  for (const property_result& one : result.properties) {
    if (one.is == verdict::holds) continue;  // within one passage, which is all that a script has
    out.holds = false;
    out.text += one.name + " " + to_string(one.is) + " " + one.why + "\n";
    if (!one.counterexample) continue;
    const std::string wrong = validate(*one.counterexample, p);
    EXPECT_EQ(wrong, "") << one.name;
    out.violated |= one.is == verdict::violated && wrong.empty();
    out.text += describe(*one.counterexample, p);
  }
  return out;
}

}  // namespace kgate::lab
