// SPDX-License-Identifier: Apache-2.0
// The promises of Fischer et al. at sizes that take seconds; model_deep_test.cpp has the larger ones.

#include "algorithms/decide.hpp"
#include "kgate/algorithms/flbb79_bank.hpp"
#include "kgate/algorithms/flbb79_bounded.hpp"
#include "kgate/algorithms/flbb79_fifo.hpp"
#include "kgate/algorithms/flbb79_tickets.hpp"
#include "kgate/algorithms/mcs_lock.hpp"

namespace kgate::lab {
namespace {

template <class M>
using bank_over_mcs = flbb79::bank<M, mcs_lock>;
template <class M>
using tickets = flbb79::tickets<M>;

TEST(Tickets, AreQueuelikeN3k2) { EXPECT_EQ(decide<tickets>({3, 2}, "l-queuelike").verdict, "holds"); }
TEST(Tickets, AreQueuelikeN4k2) { EXPECT_EQ(decide<tickets>({4, 2}, "l-queuelike").verdict, "holds"); }
TEST(Tickets, AreQueuelikeN4k1) { EXPECT_EQ(decide<tickets>({4, 1}, "l-queuelike").verdict, "holds"); }
TEST(Tickets, DoNotDeadlockWithGroupsN4k2) { EXPECT_EQ(decide<tickets>({4, 2}, "kl-deadlock-free").verdict, "holds"); }
TEST(Tickets, DoNotDeadlockWithAnyNumberOfCrashesN4k2) {
  EXPECT_EQ(decide<tickets>({4, 2, 0, 3}, "kl-deadlock-free").verdict, "holds");
}
TEST(Tickets, KeepAtMostKInsideN5k3) {
  EXPECT_EQ(decide<tickets>({5, 3, 0, -1, true}, "k-exclusion").verdict, "holds");
}
TEST(Tickets, NobodyIsOvertakenN4k2) {
  const outcome seen = decide<tickets>({4, 2}, "bounded-waiting");
  EXPECT_EQ(seen.verdict, "holds");
  EXPECT_EQ(seen.b, 0);
}

TEST(Bank, HoldsWithoutCrashesN3k2) {
  for (const char* property : {"k-exclusion", "deadlock-free", "starvation-free"})
    EXPECT_EQ(decide<bank_over_mcs>({3, 2, 0, 0}, property).verdict, "holds") << property;
}
TEST(Bank, OneCrashStopsItN3k2) { EXPECT_EQ(decide<bank_over_mcs>({3, 2, 0, 1}, "deadlock-free").verdict, "violated"); }
TEST(Bank, IsNotFullBecauseOnlyTheHeadOfTheQueueCanEnter) {
  EXPECT_EQ(decide<bank_over_mcs>({3, 2, 0, 0}, "l-full").verdict, "violated");
}

TEST(Buckets, HoldN2k1Distributed) {
  for (const char* property : {"k-exclusion", "starvation-free", "kl-deadlock-free"})
    EXPECT_EQ(decide<flbb79::bounded>({2, 1}, property).verdict, "holds") << property;
}
TEST(Buckets, OneOvertakingAtMostN2k1) {
  const outcome seen = decide<flbb79::bounded>({2, 1}, "bounded-waiting");
  EXPECT_EQ(seen.verdict, "holds");
  EXPECT_EQ(seen.b, 1);
  EXPECT_EQ(decide<flbb79::bounded>({2, 1}, "fifo-enabling").verdict, "violated") << "it is not FIFO";
}
TEST(Buckets, HoldN3k2) { EXPECT_EQ(decide<flbb79::bounded>({3, 2}, "kl-deadlock-free").verdict, "holds"); }

/// Theorems 4.3 and 4.4 have l permits and bear fewer than k failures. The rows of the catalogue have k = l; here k = 2
/// with one permit, where one crash outside it stops none.
template <class M>
using bounded_despite_one = flbb79::supervised<M, flbb79::bucket_system<>, flbb79::as_corrected, 2>;
template <class M>
using fifo_despite_one = flbb79::supervised<M, flbb79::fifo_system, flbb79::as_corrected, 2>;
TEST(Buckets, BearOneCrashWithOnePermitN3l1k2) {
  EXPECT_EQ(decide<bounded_despite_one>({3, 1, 0, 1}, "kl-deadlock-free").verdict, "holds");
  EXPECT_EQ(decide<bounded_despite_one>({3, 1, 0, 1}, "bounded-waiting").b, 1);
}
TEST(ShortNameQueue, BearsOneCrashWithOnePermitN2l1k2) {
  for (const char* property : {"kl-deadlock-free", "fifo-enabling"})
    EXPECT_EQ(decide<fifo_despite_one>({2, 1, 1, 1}, property).verdict, "holds") << property;
}

TEST(ShortNameQueue, HoldsN2k1) {
  for (const char* property : {"k-exclusion", "starvation-free", "kl-deadlock-free", "fifo-enabling"})
    EXPECT_EQ(decide<flbb79::fifo>({2, 1}, property).verdict, "holds") << property;
}

}  // namespace
}  // namespace kgate::lab
