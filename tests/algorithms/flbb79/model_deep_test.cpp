// SPDX-License-Identifier: Apache-2.0
// The promises of Fischer et al. at sizes that take minutes.

#include "algorithms/flbb79/conditions.hpp"
#include "kgate/algorithms/flbb79_bounded.hpp"
#include "kgate/algorithms/flbb79_buffer_lock.hpp"
#include "kgate/algorithms/flbb79_fifo.hpp"
#include "kgate/algorithms/flbb79_tickets.hpp"

namespace kgate::lab {
namespace {

template <class M>
using tickets = flbb79::tickets<M>;

TEST(Tickets, KeepAtMostKInsideN6k3) {
  EXPECT_EQ(decide<tickets>({6, 3, 0, -1, true}, "k-exclusion").verdict, "holds");
}
TEST(Tickets, AreQueuelikeN5k3) { EXPECT_EQ(decide<tickets>({5, 3}, "l-queuelike").verdict, "holds"); }

/// Theorem 4.1 (b): the lock by itself.
template <class M>
using buffer_lock = flbb79::buffer_lock<M>;
TEST(BufferLock, WaitsForOneN5) {
  for (const std::string& property : {std::string("k-exclusion"), std::string("kl-deadlock-free"),
                                      std::string("starvation-free"), finite_waiting, waiting_for_one}) {
    const outcome seen = decide<buffer_lock>({5, 1, 0, 0}, property);
    EXPECT_EQ(seen.verdict, "holds") << property;
    EXPECT_EQ(seen.values, 8u) << property;
    EXPECT_EQ(seen.states, 118'886u) << "docs/errata.md";
  }
}

TEST(Buckets, FairnessIsDecidedAlikeInTwoWaysN2k1) { expect_agreement<flbb79::bounded>(2, 1); }
TEST(Buckets, EnableWhoFailsInItsEntryN3k2) {
  EXPECT_EQ(decide<flbb79::bounded>({3, 2, 0, 1}, "finite-enabling").verdict, "holds");
}
TEST(Buckets, HoldN3k1Distributed) {
  for (const char* property : {"k-exclusion", "starvation-free", "kl-deadlock-free"})
    EXPECT_EQ(decide<flbb79::bounded>({3, 1}, property).verdict, "holds") << property;
  EXPECT_EQ(decide<flbb79::bounded>({3, 1}, "bounded-waiting").b, 1);
}
TEST(Buckets, HoldN4k2) {
  for (const char* property : {"k-exclusion", "starvation-free"})
    EXPECT_EQ(decide<flbb79::bounded>({4, 2}, property).verdict, "holds") << property;
}

/// The largest that completes: without a limit on passages 8 million states are not the end.
TEST(ShortNameQueue, HoldsN3k2OnePassage) {
  for (const char* property : {"k-exclusion", "starvation-free", "kl-deadlock-free", "fifo-enabling"})
    EXPECT_EQ(decide<flbb79::fifo>({3, 2, 1}, property).verdict, "holds") << property;
}
TEST(ShortNameQueue, HoldsN3k1OnePassageDistributed) {
  for (const char* property : {"k-exclusion", "deadlock-free", "fifo-enabling"})
    EXPECT_EQ(decide<flbb79::fifo>({3, 1, 1}, property).verdict, "holds") << property;
}

template <class M>
using fifo_despite_one = flbb79::supervised<M, flbb79::fifo_system, flbb79::as_corrected, 2>;
TEST(ShortNameQueue, BearsOneCrashWithOnePermitN2l1k2) {
  for (const char* property : {"k-exclusion", "kl-deadlock-free", "fifo-enabling"})
    EXPECT_EQ(decide<fifo_despite_one>({2, 1, 0, 1}, property).verdict, "holds") << property;
}
/// That it enables in order there is decided by InOrder.TheQueueEnablesByArrivalWithOneCrashN3.
TEST(ShortNameQueue, BearsOneCrashWithOnePermitN3l1k2OnePassage) {
  const outcome seen = decide<fifo_despite_one>({3, 1, 1, 1}, "kl-deadlock-free");
  EXPECT_EQ(seen.verdict, "holds");
  EXPECT_EQ(seen.states, 961'332u) << "docs/errata.md";
}

}  // namespace
}  // namespace kgate::lab
