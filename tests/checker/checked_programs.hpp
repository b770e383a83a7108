// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Programs to check the checker with, and verdicts whose counterexamples are judged apart.

#include <gtest/gtest.h>

#include <memory>
#include <string_view>
#include <utility>

#include "checker/toy_algorithms.hpp"
#include "lab/checker/properties/check.hpp"
#include "lab/models/models.hpp"

namespace kgate::lab {

template <template <class> class Toy>
std::unique_ptr<program> toy(int N, int k, program_options options = {}) {
  return std::make_unique<program>(make_model<Toy<checker_machine>>(N, k), N, k, std::move(options));
}

inline std::unique_ptr<program> from_catalog(const char* id, int N, int k) {
  return std::make_unique<program>(make_model(find_algorithm(id), N, k), N, k, program_options{});
}

inline check_result check_all(program& p, int crashes, int threads = 1) {
  check_request request;
  request.of = {"toy", p.N(), p.k(), p.options().passages, {}};
  request.properties = {"k-exclusion", "deadlock-free", "starvation-free", "bounded-exit"};
  request.crashes = crashes;
  request.limits.threads = threads;
  return check(p, request);
}

/// The verdict, after the counterexample, if there is one, has been judged apart.
inline verdict verdict_of(const check_result& r, std::string_view property, program& p) {
  for (const property_result& one : r.properties) {
    if (one.name != property) continue;
    if (one.is == verdict::violated) {
      EXPECT_TRUE(one.counterexample.has_value());
      if (one.counterexample) {
        EXPECT_EQ(validate(*one.counterexample, p), "") << property;
      }
    }
    return one.is;
  }
  ADD_FAILURE() << "no verdict for " << property;
  return verdict::undecided;
}

/// An algorithm of the catalogue at one size.
struct engine_case {
  const char* id;
  int N, k;
};

}  // namespace kgate::lab
