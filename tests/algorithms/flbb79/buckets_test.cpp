// SPDX-License-Identifier: Apache-2.0
// The bucket system of lemma 4.4, step by step, and under lemma 4.3 on random runs with crashes, too large to search.

#include <gtest/gtest.h>

#include "algorithms/flbb79/supervised_walk.hpp"
#include "kgate/algorithms/flbb79_bounded.hpp"

namespace kgate::flbb79 {
namespace {

/// A supervisor that takes a step whenever it is asked to.
struct bank_of_buckets {
  explicit bank_of_buckets(int N, int k) : system(N, k, k), v(system.first_value()), x(system.first_supervisor()) {}

  void supervise(int steps) {
    for (int i = 0; i < steps; ++i) {
      const int t = system.transno(v, x);
      v = system.newval(v, x);
      x = system.newstate(x, t);
    }
  }
  bucket_worker arrive() {
    bucket_worker w;
    system.work(v, w);
    return w;
  }

  bucket_system<> system;
  bucket_value v;
  bucket_supervisor x;
};

TEST(Buckets, AProcessAloneIsEnabledAfterOneRoundOfTheSupervisor) {
  bank_of_buckets bank(3, 2);
  bucket_worker w = bank.arrive();
  EXPECT_EQ(w.c, 0);
  EXPECT_EQ(bank.v.bufcount, 1);
  bank.supervise(2);  // drop, count
  EXPECT_EQ(bank.x.maincount, 1);
  bank.supervise(1);
  EXPECT_EQ(bank.v.main, 0) << "buf has become main";
  EXPECT_EQ(bank.v.bufcount, 0);
  bank.supervise(1);
  EXPECT_EQ(bank.v.gate, 0) << "and, with at most k-1 processes, gate";
  bank.supervise(1);
  EXPECT_EQ(bank.x.queue[0], 0);
  EXPECT_EQ(bank.system.elig(bank.v, w), eligibility::quitter);
  bank.supervise(1);
  EXPECT_EQ(bank.v.enb[0], 1);
  EXPECT_EQ(bank.system.elig(bank.v, w), eligibility::drone);
  bank.system.work(bank.v, w);
  EXPECT_EQ(w.where, region::critical);
  EXPECT_EQ(bank.v.cscount, 1);
  bank.system.work(bank.v, w);
  EXPECT_EQ(w.where, region::remainder);
  EXPECT_EQ(bank.v.cscount, 0);
}

TEST(Buckets, ALargerMainGivesItsProcessesToGateOneByOne) {
  bank_of_buckets bank(4, 1);
  bucket_worker a = bank.arrive(), b = bank.arrive();
  bank.supervise(4);  // drop, count twice, move to main
  EXPECT_EQ(bank.x.maincount, 2);
  bank.supervise(1);
  EXPECT_TRUE(bank.v.move) << "k-1 = 0 processes may go at once";
  bank.supervise(3);
  EXPECT_EQ(bank.x.at, bucket_step::await_move) << "the supervisor waits";
  bank.system.work(bank.v, b);
  EXPECT_FALSE(bank.v.move);
  EXPECT_EQ(b.c, bank.v.gate);
  EXPECT_EQ(a.c, bank.v.main);
  bank.supervise(1);
  EXPECT_EQ(bank.x.maincount, 1);
  EXPECT_EQ(bank.x.gatecount, 1);
}

TEST(Buckets, NoMoreThanKAreEnabledOrInside) {
  bank_of_buckets bank(6, 2);
  for (int i = 0; i < 4; ++i) bank.arrive();
  bank.supervise(200);
  int enabled = 0;
  for (const std::uint8_t each : bank.v.enb) enabled += each;
  EXPECT_LE(enabled, 2) << "B3";
  EXPECT_EQ(bank.system.active(bank.v, bank.x), 4) << "R5";
}

TEST(Buckets, TheSupervisorsStateSurvivesItsEncoding) {
  bank_of_buckets bank(9, 3);
  for (int i = 0; i < 7; ++i) bank.arrive();
  for (int i = 0; i < 100; ++i) {
    bank.supervise(1);
    bit_coder to;
    bank.system.code(to, bank.x);
    bit_coder from(to.bits());
    bucket_supervisor again;
    bank.system.code(from, again);
    ASSERT_EQ(again, bank.x);
  }
}

struct size {
  int N, l, k;
  long waited_max;  ///< a generous bound for random runs: what is missed is a process that never enters

  /// A permit allocated to a crashed process is lost: with l - 1 crashes one permit is left.
  int crashes() const { return std::min(k, l) - 1; }
};
class BucketsWithoutSupervisor : public testing::TestWithParam<size> {};
TEST_P(BucketsWithoutSupervisor, SimulateTheSystemWithOne) {
  const auto [N, l, k, waited_max] = GetParam();
  long distributed = 0, handed_over = 0;
  for (unsigned seed = 1; seed <= 4; ++seed)
    for (const int rest : {1, 8}) {
      const auto account = supervised_walk<bucket_system<>>(N, l, k, seed).run(150000, GetParam().crashes(), rest);
      ASSERT_FALSE(HasFatalFailure());
      EXPECT_GT(account.entries, 100);
      EXPECT_LT(account.waited_max, waited_max);
      distributed += account.distributed;
      handed_over += account.handed_over;
    }
  EXPECT_GT(distributed, 1000) << "the state must have been distributed for this to say anything";
  EXPECT_GT(handed_over, 10);
}
TEST_P(BucketsWithoutSupervisor, BearHostileSchedules) {
  const int N = GetParam().N, l = GetParam().l, k = GetParam().k;
  for (unsigned seed = 1; seed <= 3; ++seed) {
    const auto account =
        supervised_walk<bucket_system<>>(N, l, k, seed).run(600000, GetParam().crashes(), 2, schedule::hostile);
    ASSERT_FALSE(HasFatalFailure());
    EXPECT_EQ(account.crashed, GetParam().crashes());
    EXPECT_GT(account.entries, 40);
    EXPECT_LT(account.waited_max, 380000) << "the crashes come after a third of the run";
  }
}
INSTANTIATE_TEST_SUITE_P(Sizes, BucketsWithoutSupervisor,
                         testing::Values(size{3, 1, 1, 20000}, size{5, 1, 1, 20000}, size{7, 2, 2, 60000},
                                         size{12, 2, 2, 60000}, size{16, 3, 3, 120000}, size{24, 3, 3, 149000},
                                         size{6, 2, 1, 20000}, size{8, 3, 1, 20000}, size{9, 3, 2, 60000},
                                         size{6, 1, 2, 60000}, size{10, 1, 3, 149000}));

}  // namespace
}  // namespace kgate::flbb79
