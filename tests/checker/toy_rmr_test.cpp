// SPDX-License-Identifier: Apache-2.0
// Remote memory references known by hand.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "checker/checked_programs.hpp"
#include "lab/rmr/worst_case.hpp"

namespace kgate::lab {
namespace {

TEST(Rmr, ABusyWaitOnTheLockBitIsUnbounded) {
  auto p = toy<toys::lock_bit>(2, 1);
  for (const memory_model m : {memory_model::cc, memory_model::dsm}) {
    const rmr_result r = worst_rmr(*p, {m, true}, 0, {});
    EXPECT_TRUE(r.complete);
    EXPECT_TRUE(r.unbounded) << to_string(m);
  }
  const rmr_result alone = worst_rmr(*p, {memory_model::cc, true}, 1, {});
  EXPECT_FALSE(alone.unbounded);
  EXPECT_EQ(alone.worst, 2);
  EXPECT_EQ(alone.labels, (std::vector<std::string>{"1", "3"}));
}

TEST(Rmr, WriteBackKeepsTheLine) {
  // Alone, the second passage finds the line where the first left it; but the first has to fetch it.
  auto p = toy<toys::turnstile>(1, 1);
  EXPECT_EQ(worst_rmr(*p, {memory_model::cc_writeback, true}, 0, {}).worst, 1);
  EXPECT_EQ(worst_rmr(*p, {memory_model::cc, true}, 0, {}).worst, 2);
}

}  // namespace
}  // namespace kgate::lab
