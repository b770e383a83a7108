// SPDX-License-Identifier: Apache-2.0
// Conditions C3, C4 and C5 of section 3 as formulas, and lemma 4.1: the bank teller has the fairness of its lock. C1,
// C2 and those that speak of enabling are properties of their own: k-exclusion, kl-deadlock-free, bounded-waiting
// (C4'), fifo-enabling (C5'), l-queuelike (C6).

#include <set>
#include <vector>

#include "algorithms/decide.hpp"
#include "kgate/algorithms/flbb79_bank.hpp"
#include "kgate/algorithms/flbb79_bounded.hpp"
#include "kgate/algorithms/flbb79_count.hpp"
#include "kgate/algorithms/flbb79_tickets.hpp"
#include "kgate/algorithms/mcs_lock.hpp"

namespace kgate::lab {
namespace {

/// C3: nobody waits for ever while another gets inside again and again. Who crashes in its entry waits for ever too, so
/// this is for runs without crashes.
const std::string finite_waiting = "ltl: forall p: forall q: !(<>[] entry(p) && []<> remainder(q) && []<> inside(q))";
/// C4 with b = 1: nobody gets twice from its remainder to inside while another stays in its entry.
const std::string waiting_for_one =
    "ltl: forall p: forall q: [] !(entry(p) && remainder(q) && (entry(p) U (entry(p) && inside(q) && (entry(p) U "
    "(entry(p) && remainder(q) && (entry(p) U (entry(p) && inside(q))))))))";
/// C5: nobody gets from its remainder to inside while another stays in its entry.
const std::string fifo = "ltl: forall p: forall q: [] (entry(p) && remainder(q) -> (!inside(q) W !entry(p)))";

template <class M>
using count = flbb79::count<M>;
template <class M>
using tickets = flbb79::tickets<M>;
template <class M>
using bank_over_mcs = flbb79::bank<M, mcs_lock>;
template <class M>
using bank_over_tickets = flbb79::bank<M, tickets>;

template <template <class> class Algorithm>
std::string says(int N, int k, const std::string& property) {
  return decide<Algorithm>({N, k, 0, 0}, property).verdict;
}

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

/// The values that all shared variables together take.
template <template <class> class Algorithm>
std::size_t values(int N, int k) {
  program p(make_model<Algorithm<checker_machine>>(N, k), N, k, {});
  exploration all = explore(p, {}, {});
  EXPECT_TRUE(all.complete);
  std::set<std::vector<std::uint64_t>> seen;
  for (const id_range& r : all.used())
    for (state_id s = r.begin; s < r.end; ++s) {
      std::vector<std::uint64_t> contents;
      for (const auto& each : all.table->packing().variable) contents.push_back(each.get(all.store->record(s)));
      seen.insert(contents);
    }
  return seen.size();
}
/// The counts of theorem 4.1 are those of locks in other papers, times l + 1. That factor is the theorem's own.
TEST(Theorem41, TheBankMultipliesTheValuesOfItsLockByAtMostKPlusOne) {
  for (const auto& [N, k] : {std::pair{3, 1}, {3, 2}, {4, 2}}) {
    const std::size_t lock = values<tickets>(N, 1);
    EXPECT_LE(lock, static_cast<std::size_t>(4 * N * N)) << "theorem 4.2 with one place";
    EXPECT_LE(values<bank_over_tickets>(N, k), (static_cast<std::size_t>(k) + 1) * lock) << "N=" << N << " k=" << k;
  }
}

}  // namespace
}  // namespace kgate::lab
