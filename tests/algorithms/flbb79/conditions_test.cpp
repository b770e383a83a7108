// SPDX-License-Identifier: Apache-2.0
// Conditions C3, C4 and C5 of section 3 as formulas, and lemma 4.1: the bank teller has the fairness of its lock. C1,
// C2 and those that speak of enabling are properties of their own: k-exclusion, kl-deadlock-free, bounded-waiting
// (C4'), fifo-enabling (C5'), l-queuelike (C6).

#include "algorithms/flbb79/conditions.hpp"

#include "kgate/algorithms/flbb79_bank.hpp"
#include "kgate/algorithms/flbb79_bounded.hpp"
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

TEST(Conditions, CountIsUnfair) {
  EXPECT_EQ(says<count>(3, 2, finite_waiting), "violated");
  EXPECT_EQ(says<count>(3, 2, waiting_for_one), "violated");
  EXPECT_EQ(says<count>(3, 2, fifo), "violated");
}
/// With one place, to be enabled first is to be inside first. With two an enabled process may be overtaken for ever if
/// it stands still; that is why the primed conditions speak of being enabled.
TEST(Conditions, TicketsAreFifoWithOnePlaceOnly) {
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
