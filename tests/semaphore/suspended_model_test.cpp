// SPDX-License-Identifier: Apache-2.0
// Waiters that no thread stands for, beside threads, under all schedules: a grant and the end of a wait meet at every
// step.
#include <gtest/gtest.h>

#include "suspended_gates.hpp"

namespace kgate::lab {
namespace {

const std::vector<std::string> promised{"deadlock-free", "starvation-free"};
using queue = small_queue<room_machine>;

template <class Gate>
void holds(int N, int passages) {
  const auto got = verdicts<Gate>(N, N, passages, 0, promised);
  EXPECT_EQ(got.overall(), verdict::holds) << "N = " << N << ": " << text(got);
}
template <class Gate>
void catches(int N, int passages, const char* wrong, const char* why) {
  const auto got = verdicts<Gate>(N, N, passages, 0, promised, {.wrong = wrong});
  EXPECT_EQ(got.overall(), verdict::violated) << wrong << ", " << why << ": " << text(got);
}
template <class Gate>
void breaks(int N, int passages, const char* wrong, const char* why) {
  const auto got = verdicts<Gate>(N, N, passages, 0, promised, {.wrong = wrong});
  EXPECT_TRUE(is_broken(got)) << wrong << ", " << why << ": " << text(got);
}

TEST(SuspendedModel, EveryWaiterIsGranted) {
  holds<granted_in_room<queue, 1>>(3, 2);
  holds<granted_in_room<queue, 1>>(4, 1);
}
TEST(SuspendedModel, AWaitThatNobodyGrantsEndsWhenItIsCancelled) {
  holds<cancelled_in_room<queue, 0>>(2, 1);
  holds<cancelled_in_room<queue, 0>>(2, 2);
}
TEST(SuspendedModel, AGrantAndACancellationMeet) {
  holds<cancelled_in_room<queue, 1>>(3, 1);
  holds<cancelled_in_room<queue, 1>>(2, 2);
}
TEST(SuspendedModel, WithBarging) { holds<cancelled_in_room<small_barging<room_machine, 2>, 1>>(3, 1); }
TEST(SuspendedModel, ClosingEndsAllWaits) {
  holds<closed_in_room<queue, 0>>(2, 1);
  holds<closed_in_room<queue, 1>>(2, 2);
  holds<closed_in_room<queue, 1>>(3, 1);
}
TEST(SuspendedModel, FewerPermitsEndTheWaitsForMore) {
  holds<shrunk_in_room<queue, 1>>(2, 1);
  holds<shrunk_in_room<queue, 1>>(2, 2);
  holds<shrunk_in_room<queue, 1>>(3, 1);
  holds<shrunk_in_room<queue, 2>>(3, 1);
}

TEST(SuspendedMutants, AreCaught) {
  catches<hasty_in_room<queue, 0>>(2, 1, "", "T5: the end of a wait is asked for before the waiter is inserted");
  catches<cancelled_in_room<queue, 0, true>>(2, 1, "", "T5: a waiter is withdrawn before the end is known");
  catches<cancelled_in_room<queue, 0>>(2, 1, "drop:r1", "a withdrawn waiter is not resumed");
  breaks<cancelled_in_room<meddling_queue, 0>>(2, 1, "", "a waiter is withdrawn that is not suspended");
  breaks<cancelled_in_room<resuming_queue, 1>>(3, 1, "", "a waiter is resumed by who granted and by who cancelled");
  catches<cancelled_in_room<queue, 1>>(3, 2, "drop:17", "T4: the permit of a withdrawn waiter is lost");
  catches<granted_in_room<queue, 1>>(3, 1, "defer:a1", "R1: a suspended waiter announces itself after it drew");
  catches<closed_in_room<queue, 0, false>>(2, 1, "", "R4: whom closing takes out of the queue is not woken");
  catches<shrunk_in_room<queue, 1, true>>(
      3, 1, "", "T5: those who wait for more than there are are taken out before it is known");
  catches<shrunk_in_room<near_sighted_queue, 1>>(3, 1, "", "one that waits for more than there are stays queued");
  breaks<shrunk_in_room<queue, 1>>(3, 1, "drop:refuse", "a refused waiter believes itself admitted");
  breaks<closed_in_room<queue, 1>>(3, 1, "drop:refuse", "a refused waiter believes itself admitted");
}

}  // namespace
}  // namespace kgate::lab
