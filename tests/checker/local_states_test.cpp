// SPDX-License-Identifier: Apache-2.0
// Which observations make two local states one, and which keep them apart.

#include <gtest/gtest.h>

#include "checker/toy_algorithms.hpp"
#include "lab/checker/properties/check.hpp"
#include "lab/models/models.hpp"

namespace kgate::lab {
namespace {

TEST(LocalStates, OfTwoBranchesStayApart) {
  program p(make_model<toys::branches<checker_machine>>(2, 1), 2, 1, {});
  check_request request;
  request.of = {"toy", 2, 1, 0, {}};
  request.properties = {"k-exclusion"};
  const check_result r = check(p, request);
  ASSERT_EQ(r.properties[0].is, verdict::violated);
  EXPECT_EQ(validate(*r.properties[0].counterexample, p), "");
}

struct polling_case {
  const char* id;
  int N, k, passages;
  std::uint64_t states;
};

/// tests/checker/recount.py derives the same numbers from the papers.
TEST(LocalStates, OfAllRoundsOfAPollingLoopAreOne) {
  for (const auto& [id, N, k, passages, states] : {polling_case{"danek10-kfcfs", 2, 1, 1, 80},
                                                   {"danek10-kfcfs", 2, 1, 2, 472},
                                                   {"danek10-kfcfs", 3, 2, 1, 9'388},
                                                   {"peterson-k", 4, 2, 0, 34'142}}) {
    program_options options;
    options.passages = passages;
    program p(make_model(find_algorithm(id), N, k), N, k, options);
    EXPECT_EQ(explore(p, {}, {}).states, states) << id << " N" << N << " k" << k << " passages " << passages;
  }
}

}  // namespace
}  // namespace kgate::lab
