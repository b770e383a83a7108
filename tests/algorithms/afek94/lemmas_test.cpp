// SPDX-License-Identifier: Apache-2.0
// Lemma 4.2 of Afek et al., in every state: from one round of the waiting room to the next the set Test of line 8 never
// gets a new member. The text remembers Test of the round before, and goes to a label of its own when it has grown, and
// to another when it has shrunk.

#include <gtest/gtest.h>

#include <array>

#include "kgate/algorithms/afek94_bounded_timestamps.hpp"
#include "lab/checker/properties/check.hpp"
#include "mutants/remembers_test.hpp"

namespace kgate::lab {
namespace {

template <class Timestamps>
using watched = afek94::remembers_test::figure2<checker_machine, Timestamps>;

template <class Timestamps>
check_result explored(int N, int k, int passages) {
  program p(make_model<watched<Timestamps>>(N, k), N, k, {passages, {}});
  check_request request;
  request.of = {"test", N, k, passages, {}};
  request.properties = {"k-exclusion"};
  request.limits.memory_max = std::uint64_t{6} << 30;
  return check(p, request);
}

using unbounded = afek94::unbounded_timestamps<checker_machine>;
using bounded = afek94::bounded_timestamps<checker_machine>;

TEST(AfekLemmas, TestOnlyShrinks) {
  bool shrank = false;
  for (const auto& [N, k, passages] : {std::array{2, 1, 3}, std::array{3, 1, 1}, std::array{3, 2, 1}}) {
    const check_result seen = explored<unbounded>(N, k, passages);
    SCOPED_TRACE(testing::Message() << "N=" << N << " k=" << k << ", " << seen.states << " states");
    EXPECT_TRUE(seen.complete) << seen.why;
    EXPECT_FALSE(seen.reached.labels.contains("grew"));
    shrank = shrank || seen.reached.labels.contains("shrank");
  }
  EXPECT_TRUE(shrank);
  const check_result seen = explored<bounded>(2, 1, 0);
  EXPECT_TRUE(seen.complete) << seen.why;
  EXPECT_FALSE(seen.reached.labels.contains("grew"));
}

}  // namespace
}  // namespace kgate::lab
