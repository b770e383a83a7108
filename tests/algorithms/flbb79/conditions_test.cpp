// SPDX-License-Identifier: Apache-2.0
// Conditions C3, C3', C4 and C5 of section 3 as properties, C3, C4 and C5 as formulas beside them, and lemma 4.1: the
// bank teller has the fairness of its lock. The other conditions are properties too: k-exclusion (C1), kl-deadlock-free
// (C2), bounded-waiting (C4'), fifo-enabling (C5'), l-queuelike (C6).

#include "algorithms/flbb79/conditions.hpp"

#include "kgate/algorithms/am97_queue.hpp"
#include "kgate/algorithms/flbb79_bank.hpp"
#include "kgate/algorithms/flbb79_bounded.hpp"
#include "kgate/algorithms/flbb79_buffer_lock.hpp"
#include "kgate/algorithms/flbb79_count.hpp"
#include "kgate/algorithms/flbb79_tickets.hpp"
#include "kgate/algorithms/mcs_lock.hpp"

namespace kgate::lab {
namespace {

template <class M>
using count = flbb79::count<M>;
template <class M>
using tickets = flbb79::tickets<M>;
template <class M>
using bank_over_mcs = flbb79::bank<M, mcs_lock>;
template <class M>
using bank_over_tickets = flbb79::bank<M, tickets>;
template <class M>
using buffer_lock = flbb79::buffer_lock<M>;
template <class M>
using bank_over_buffer = flbb79::bank<M, buffer_lock>;

TEST(Conditions, AreDecidedAlikeInTwoWays) {
  for (const int k : {1, 2}) {
    expect_agreement<count>(3, k);
    expect_agreement<tickets>(3, k);
    expect_agreement<bank_over_mcs>(3, k);
    expect_agreement<bank_over_tickets>(3, k);
    expect_agreement<bank_over_buffer>(3, k);
  }
}

/// One that is enabled is not known to the queue any more: with two permits it can be overtaken for ever.
TEST(Conditions, TheQueueOfAndersonAndMoirIsFairByLetterWithOnePermitOnly) {
  EXPECT_EQ(decide<am97::queue>({3, 1, 0, 0}, "bounded-overtaking").b, 0);
  EXPECT_EQ(decide<am97::queue>({3, 2, 0, 0}, "bounded-overtaking").verdict, "violated");
  EXPECT_EQ(decide<am97::queue>({3, 2, 0, 1}, "finite-enabling").verdict, "holds");
}

/// C3 and C3' with fewer than k failures. A process that fails in its entry stays there (C3 is not for such runs), but
/// the robust ones enable it all the same.
TEST(Conditions, FiniteWaitingForEnablingBearsFailures) {
  EXPECT_EQ(decide<tickets>({3, 2, 0, 1}, "finite-waiting").verdict, "violated");
  EXPECT_EQ(decide<tickets>({3, 2, 0, 1}, "finite-enabling").verdict, "holds");
  EXPECT_EQ(decide<tickets>({4, 2, 0, 3}, "finite-enabling").verdict, "holds");
  EXPECT_EQ(decide<flbb79::bounded>({2, 1, 0, 0}, "finite-enabling").verdict, "holds");
  EXPECT_EQ(decide<count>({3, 1, 0, 0}, "finite-enabling").verdict, "violated");
  EXPECT_EQ(decide<count>({3, 2, 0, 1}, "finite-enabling").verdict, "violated");
}
/// A teller's customer is never enabled before its last step, and still gets there.
TEST(Conditions, TheBankWaitsFinitelyForEnabling) {
  EXPECT_EQ(decide<bank_over_mcs>({3, 2, 0, 0}, "finite-enabling").verdict, "holds");
  EXPECT_EQ(decide<bank_over_buffer>({3, 2, 0, 0}, "finite-enabling").verdict, "holds");
}

/// A run shows what it is for and no more: not with another victim, nor if it ends before.
TEST(Conditions, ChangedRunsAreRefused) {
  for (const char* property : {"finite-waiting", "finite-enabling", "bounded-overtaking", "fifo"}) {
    program p(make_model<count<checker_machine>>(3, 1), 3, 1, {});
    check_request request;
    request.of = {"test", 3, 1, 0, {}};
    request.properties = {property};
    const check_result result = check(p, request);
    ASSERT_TRUE(result.properties.at(0).counterexample) << property;
    const trace shown = *result.properties.at(0).counterexample;
    EXPECT_EQ(validate(shown, p), "") << property;
    for (int victim = -1; victim < 3; ++victim) {
      trace other = shown;
      other.victim = victim;
      if (victim != shown.victim) {
        EXPECT_NE(validate(other, p), "") << property << ", victim " << victim;
      }
    }
    trace shorter = shown;
    shorter.schedule.pop_back();
    EXPECT_NE(validate(shorter, p), "") << property;
  }
}

TEST(Conditions, CountIsUnfair) {
  EXPECT_EQ(says<count>(3, 2, finite_waiting), "violated");
  EXPECT_EQ(says<count>(3, 2, waiting_for_one), "violated");
  EXPECT_EQ(says<count>(3, 2, fifo), "violated");
}
/// With one permit, to be enabled first is to be inside first. With two an enabled process may be overtaken for ever if
/// it stands still; that is why the primed conditions speak of being enabled.
TEST(Conditions, TicketsAreFifoWithOnePermitOnly) {
  EXPECT_EQ(says<tickets>(3, 1, fifo), "holds");
  EXPECT_EQ(says<tickets>(4, 1, fifo), "holds");
  EXPECT_EQ(says<tickets>(3, 2, fifo), "violated");
  EXPECT_EQ(says<tickets>(3, 2, waiting_for_one), "violated");
  EXPECT_EQ(says<tickets>(3, 2, finite_waiting), "holds");
}
TEST(Conditions, BucketsWaitForOneN2k1) {
  EXPECT_EQ(says<flbb79::bounded>(2, 1, finite_waiting), "holds");
  EXPECT_EQ(says<flbb79::bounded>(2, 1, waiting_for_one), "holds");
  EXPECT_EQ(says<flbb79::bounded>(2, 1, fifo), "violated");
}

/// Lemma 4.1 over a lock that is FIFO from its first step on.
TEST(Lemma41, TheBankOverTicketsIsFifoN3k2) {
  for (const std::string& property :
       {std::string("k-exclusion"), std::string("kl-deadlock-free"), finite_waiting, waiting_for_one, fifo})
    EXPECT_EQ(says<bank_over_tickets>(3, 2, property), "holds") << property;
}
TEST(Lemma41, TheBankOverMcsWaitsFinitelyN3k2) {
  for (const std::string& property : {std::string("k-exclusion"), std::string("kl-deadlock-free"), finite_waiting})
    EXPECT_EQ(says<bank_over_mcs>(3, 2, property), "holds") << property;
}

}  // namespace
}  // namespace kgate::lab
