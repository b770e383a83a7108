// SPDX-License-Identifier: Apache-2.0
// b under hostile schedules, counted exactly. (On real threads: waiting_test.cpp.)
#include <gtest/gtest.h>

#include <cstdio>

#include "observed_gates.hpp"

namespace kgate::lab {
namespace {

template <class Gate>
overtaking_run worst(int N, int k, std::uint64_t steps) {
  overtaking_run all;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const overtaking_run one = harassed<Gate>(N, k, seed, steps);
    all.most = std::max(all.most, one.most);
    all.overtakings += one.overtakings;
    all.over_admitted |= one.over_admitted;
    all.passages += one.passages;
  }
  std::printf("N=%d k=%d: %lu passages, %lu overtakings, one queued passed %d times at most\n", N, k,
              static_cast<unsigned long>(all.passages), static_cast<unsigned long>(all.overtakings), all.most);
  return all;
}

// b, and the permits that were bargeable when the ticket was drawn: at most k.
template <int b>
void stays_within(int N, int k) {
  const overtaking_run got = worst<observed_gate<b>>(N, k, 100'000);
  EXPECT_FALSE(got.over_admitted);
  EXPECT_GT(got.overtakings, 100U);
  EXPECT_LE(got.most, b + k) << "b = " << b << ", N = " << N << ", k = " << k;
}

TEST(KgateOvertaking, StaysWithinItsBoundUnderHostileSchedules) {
  for (const int k : {1, 2, 4}) {
    stays_within<2>(k + 4, k);
    stays_within<3>(k + 4, k);
    stays_within<20>(k + 6, k);
  }
  stays_within<300>(6, 2);
}

TEST(KgateOvertaking, EpochsSeenTooLateAreNoticed) {
  EXPECT_LE(worst<observed_gate<8>>(3, 1, 400'000).most, 8 + 1);
  EXPECT_GT(worst<late_stamp_gate<8>>(3, 1, 400'000).most, 8 + 1);
}

}  // namespace
}  // namespace kgate::lab
