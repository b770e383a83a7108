// SPDX-License-Identifier: Apache-2.0
#pragma once

/// One check of one algorithm for one property, with its counterexample run again apart.

#include <gtest/gtest.h>

#include <string>

#include "lab/checker/properties/check.hpp"
#include "lab/checker/trace/trace.hpp"

namespace kgate::lab {

struct trial {
  int N = 0;
  int k = 0;
  int passages = 0;  ///< 0: without limit
  int crashes = -1;  ///< -1: k-1
  bool symmetry = false;
};

struct outcome {
  std::string verdict;
  std::size_t length = 0;  ///< of the counterexample
  long b = -1;             ///< the bound of bounded waiting
  std::size_t values = 0;  ///< distinct values of the first shared variable
  std::uint64_t states = 0;
};

template <template <class> class Algorithm>
outcome decide(const trial& t, const std::string& property) {
  program p(make_model<Algorithm<checker_machine>>(t.N, t.k), t.N, t.k, {t.passages, {}});
  check_request request;
  request.of = {"test", t.N, t.k, t.passages, {}};
  request.properties = {property};
  request.crashes = t.crashes < 0 ? t.k - 1 : t.crashes;
  request.symmetry = t.symmetry;
  request.limits.threads = 2;
  request.limits.memory_max = std::uint64_t{6} << 30;
  const check_result result = check(p, request);
  const property_result& one = result.properties.at(0);
  outcome seen{to_string(one.is), 0, -1, p.variable(0).values.size(), result.states};
  if (one.counterexample) {
    seen.length = one.counterexample->schedule.size();
    EXPECT_EQ(validate(*one.counterexample, p), "") << property;
  }
  for (const auto& [name, value] : one.figures)
    if (name == "b") seen.b = value;
  return seen;
}

}  // namespace kgate::lab
