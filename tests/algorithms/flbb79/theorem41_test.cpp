// SPDX-License-Identifier: Apache-2.0
// Theorem 4.1: the bank teller over locks of one variable, and how many values that variable and COUNT take together.
// (a) asks for finite waiting (C3) in (l+1)(floor(N/2)+9) values, (b) for 1-bounded waiting (C4) in (l+1)(N+3), (c) for
// FIFO (C5) in (l+1)(N+7).

#include <set>
#include <vector>

#include "algorithms/flbb79/conditions.hpp"
#include "kgate/algorithms/flbb79_bank.hpp"
#include "kgate/algorithms/flbb79_buffer_lock.hpp"
#include "kgate/algorithms/flbb79_number_lock.hpp"
#include "kgate/algorithms/flbb79_tickets.hpp"
#include "kgate/algorithms/mcs_lock.hpp"
#include "mutants/arrivals_keep_messages.hpp"
#include "mutants/come_in_is_done.hpp"
#include "mutants/everybody_is_free.hpp"
#include "mutants/go_on_is_come_in.hpp"
#include "mutants/go_on_is_done.hpp"
#include "mutants/leaders_enter_first.hpp"
#include "mutants/leaders_forget.hpp"
#include "mutants/once_to_the_porch.hpp"
#include "mutants/one_number_fewer.hpp"

namespace kgate::lab {
namespace {

template <class M>
using tickets = flbb79::tickets<M>;
template <class M>
using buffer_lock = flbb79::buffer_lock<M>;
template <class M>
using number_lock = flbb79::number_lock<M>;
template <class M>
using mcs = mcs_lock<M>;
/// A number lock that takes another step after the one that lets the next process in.
template <class M>
class leaves_by_two_steps {
 public:
  using Process = typename M::Process;
  using Private = typename number_lock<M>::Private;
  leaves_by_two_steps(typename M::Memory& memory, int N, int k)
      : lock_(memory, N, k), gone_(memory, {.name = "gone"}, 0) {}
  void acquire(Process& p, Private& mine) { lock_.acquire(p, mine); }
  void release(Process& p, Private& mine) {
    lock_.release(p, mine);
    p.live();
    gone_.write(p["F"], 1);
  }

 private:
  number_lock<M> lock_;
  typename M::template Var<int> gone_;
};
template <class M>
using bank_over_tickets = flbb79::bank<M, tickets>;
template <class M>
using bank_over_buffer = flbb79::bank<M, buffer_lock>;
template <class M>
using bank_over_numbers = flbb79::bank<M, number_lock>;

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
    EXPECT_LE(lock, static_cast<std::size_t>(4 * N * N)) << "theorem 4.2 with one permit";
    EXPECT_LE(values<bank_over_tickets>(N, k), (static_cast<std::size_t>(k) + 1) * lock) << "N=" << N << " k=" << k;
  }
}

TEST(BufferLock, WaitsForOneN2ToN4) {
  for (const int N : {2, 3, 4}) {
    for (const std::string& property : {std::string("k-exclusion"), std::string("kl-deadlock-free"),
                                        std::string("starvation-free"), finite_waiting, waiting_for_one})
      EXPECT_EQ(says<buffer_lock>(N, 1, property), "holds") << N << " " << property;
    EXPECT_EQ(says<buffer_lock>(N, 1, fifo), "violated") << N;
    EXPECT_EQ(values<buffer_lock>(N, 1), static_cast<std::size_t>(N) + 3);
  }
  EXPECT_EQ(decide<buffer_lock>({4, 1, 0, 0}, "k-exclusion").states, 14'085u) << "docs/errata.md";
}

template <class M>
using keeps_messages = flbb79::arrivals_keep_messages::buffer_lock<M>;
template <class M>
using enters_first = flbb79::leaders_enter_first::buffer_lock<M>;
template <class M>
using forgets = flbb79::leaders_forget::buffer_lock<M>;
template <class M>
using free_too_soon = flbb79::everybody_is_free::buffer_lock<M>;
template <class M>
using moves_once = flbb79::once_to_the_porch::buffer_lock<M>;
TEST(BufferLockMutant, IsCaughtN3) {
  EXPECT_EQ(says<keeps_messages>(3, 1, "starvation-free"), "violated") << "an arrival keeps the message it found";
  EXPECT_EQ(says<enters_first>(3, 1, "starvation-free"), "violated") << "a leader leaves main behind";
  EXPECT_EQ(says<forgets>(3, 1, "starvation-free"), "violated") << "a leader does not hand its count on";
  EXPECT_EQ(says<moves_once>(3, 1, "starvation-free"), "violated") << "one is left on the porch";
  EXPECT_EQ(says<free_too_soon>(3, 1, "k-exclusion"), "violated") << "N-2 is taken for free, not N-1";
}

template <class M>
using go_on_is_come_in = flbb79::go_on_is_come_in::buffer_lock<M>;
template <class M>
using go_on_is_done = flbb79::go_on_is_done::buffer_lock<M>;
template <class M>
using come_in_is_done = flbb79::come_in_is_done::buffer_lock<M>;
template <class M>
using one_number_fewer = flbb79::one_number_fewer::number_lock<M>;
/// No two of the messages can share a value, and no number can be saved. Not that no other lock has fewer values.
TEST(LockMutant, WithAValueFewerIsCaughtN3) {
  EXPECT_EQ(says<go_on_is_come_in>(3, 1, "k-exclusion"), "violated");
  EXPECT_EQ(says<go_on_is_done>(3, 1, "starvation-free"), "violated");
  EXPECT_EQ(says<come_in_is_done>(3, 1, "k-exclusion"), "violated");
  EXPECT_EQ(says<one_number_fewer>(3, 1, "k-exclusion"), "violated");
}
/// Then lemma 5.1 is for it: more values than the N + 7 of (c) from N = 7 on.
TEST(NumberLock, IsQueuelikeN2ToN4) {
  for (const int N : {2, 3, 4}) EXPECT_EQ(says<number_lock>(N, 1, "l-queuelike"), "holds") << N;
}
/// What lemma 4.1 supposes of its lock.
TEST(Lemma41, TheLocksPreserveOrder) {
  for (const int N : {2, 3, 4}) {
    EXPECT_EQ(says<buffer_lock>(N, 1, order_preserving), "holds") << N;
    EXPECT_EQ(says<number_lock>(N, 1, order_preserving), "holds") << N;
  }
  EXPECT_EQ(says<tickets>(3, 1, order_preserving), "holds");
  EXPECT_EQ(says<mcs>(3, 1, order_preserving), "holds");
  EXPECT_EQ(says<leaves_by_two_steps>(3, 1, order_preserving), "violated");
}

/// As many values as (b) allows, and no more than (a) does to N = 12.
TEST(Theorem41, TheBankOverTheBufferWaitsForOne) {
  for (const auto& [N, l] : {std::pair{3, 1}, {3, 2}, {4, 2}}) {
    for (const std::string& property :
         {std::string("k-exclusion"), std::string("kl-deadlock-free"), finite_waiting, waiting_for_one})
      EXPECT_EQ(says<bank_over_buffer>(N, l, property), "holds") << N << " " << l << " " << property;
    const std::size_t measured = values<bank_over_buffer>(N, l), factor = static_cast<std::size_t>(l) + 1;
    EXPECT_LE(measured, factor * static_cast<std::size_t>(N + 3)) << "(b)";
    EXPECT_LE(measured, factor * static_cast<std::size_t>(N / 2 + 9)) << "(a)";
  }
}
TEST(Theorem41, TheBankOverNumbersIsFifo) {
  for (const auto& [N, l] : {std::pair{2, 1}, {3, 1}, {3, 2}, {4, 2}}) {
    for (const std::string& property : {std::string("k-exclusion"), std::string("kl-deadlock-free"), fifo})
      EXPECT_EQ(says<bank_over_numbers>(N, l, property), "holds") << N << " " << l << " " << property;
    const std::size_t measured = values<bank_over_numbers>(N, l), factor = static_cast<std::size_t>(l) + 1;
    EXPECT_LE(measured, factor * static_cast<std::size_t>(N * N));
    if (N <= 3) {
      EXPECT_LE(measured, factor * static_cast<std::size_t>(N + 7)) << "(c)";
    }
  }
}

}  // namespace
}  // namespace kgate::lab
