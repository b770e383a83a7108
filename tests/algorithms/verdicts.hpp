// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Checks with at most k-1 crashes, and what came out of them by name.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lab/checker/properties/check.hpp"
#include "lab/models/models.hpp"

namespace kgate::lab {

/// A program to check: an algorithm of the catalogue, or a model of one's own.
struct trial {
  std::string algorithm;
  int N = 0;
  int k = 0;
  int passages = 1;
  bool safe = false;
  bool symmetry = false;
  std::vector<std::string> mutations = {};

  register_kind registers() const { return safe ? safe_registers(N, passages) : register_kind{}; }
  program_name name() const {
    program_name of{algorithm, N, k, passages, {}, safe};
    for (const std::string& text : mutations) of.wrong.push_back(mutation::parse(text));
    return of;
  }
};

inline program_options options_of(const trial& t) { return {t.passages, t.name().wrong}; }

/// Expects each property to come out as `expected`, and every counterexample to be valid when it is run apart.
inline check_result decide(const trial& t, program& p, const std::vector<std::string>& properties, verdict expected) {
  check_request request;
  request.of = t.name();
  request.properties = properties;
  request.crashes = t.k - 1;
  request.symmetry = t.symmetry;
  request.limits.threads = 2;
  request.limits.memory_max = std::uint64_t{6} << 30;
  check_result result = check(p, request);
  for (const property_result& one : result.properties) {
    EXPECT_EQ(to_string(one.is), std::string(to_string(expected)))
        << t.algorithm << " N=" << t.N << " k=" << t.k << " " << one.name << " " << one.why;
    if (one.counterexample) {
      EXPECT_EQ(validate(*one.counterexample, p), "") << one.counterexample->replay_command();
    }
  }
  return result;
}

inline check_result decide(const trial& t, const std::vector<std::string>& properties, verdict expected) {
  program p(make_model(find_algorithm(t.algorithm), t.N, t.k, t.registers()), t.N, t.k, options_of(t));
  return decide(t, p, properties, expected);
}

inline check_result holds(const trial& t, const std::vector<std::string>& properties) {
  return decide(t, properties, verdict::holds);
}
inline check_result violated(const trial& t, const std::string& property) {
  return decide(t, {property}, verdict::violated);
}

/// The mutant breaks the property at this size.
template <class Algorithm>
void caught(const trial& t, const std::string& property) {
  program p(make_model<Algorithm>(t.N, t.k, t.registers()), t.N, t.k, options_of(t));
  decide(t, p, {property}, verdict::violated);
}

}  // namespace kgate::lab
