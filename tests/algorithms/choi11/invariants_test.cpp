// SPDX-License-Identifier: Apache-2.0

/// Choi's invariants that stand beside the text, in every state.

#include "algorithms/verdicts.hpp"

namespace kgate::lab {
namespace {

/// "holds", or the invariant that is false.
std::string decided(const char* algorithm, int n, int k, int passages) {
  const trial size{algorithm, n, k, passages};
  program p(make_model(find_algorithm(algorithm), n, k), n, k, options_of(size));
  check_request request;
  request.of = size.name();
  request.properties = {"invariant"};
  request.limits.threads = 2;
  const property_result found = check(p, request).properties.at(0);
  if (!found.counterexample) return to_string(found.is);
  EXPECT_EQ(validate(*found.counterexample, p), "");
  return found.counterexample->what;
}

TEST(choi11_invariants, hold_in_every_state) {
  EXPECT_EQ(decided("choi11", 3, 2, 2), "holds");
  EXPECT_EQ(decided("choi11", 4, 3, 1), "holds");
  EXPECT_EQ(decided("choi11-compact", 3, 2, 2), "holds");
  EXPECT_EQ(decided("choi11-linear", 3, 2, 2), "holds");
}
TEST(choi11_invariants, fail_for_misreadings) {
  EXPECT_NE(decided("choi11-as-printed-rounding", 3, 2, 2).find("is false"), std::string::npos);
  EXPECT_NE(decided("choi11-descending", 3, 2, 2).find("I11"), std::string::npos) << "it fails before FIFE does";
}

}  // namespace
}  // namespace kgate::lab
