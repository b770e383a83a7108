// SPDX-License-Identifier: Apache-2.0
// The algorithms of kgate::semaphore with their waiting room under all schedules, on a machine that sleeps as the
// kernel lets threads sleep. Tickets wrap during every run.
#include <gtest/gtest.h>

#include "room_gates.hpp"

namespace kgate::lab {
namespace {

const std::vector<std::string> promised{"k-exclusion", "deadlock-free", "starvation-free"};

template <class Gate>
void holds(int N, int k, int passages) {
  const auto got = verdicts<Gate>(N, k, passages, 0, promised);
  EXPECT_EQ(got.overall(), verdict::holds) << "N = " << N << ", k = " << k << ": " << text(got);
}
template <class Gate>
void catches(int N, int k, int passages, const char* wrong, const char* why) {
  const auto got = verdicts<Gate>(N, k, passages, 0, promised, {.wrong = wrong});
  EXPECT_EQ(got.overall(), verdict::violated) << wrong << ", " << why << ": " << text(got);
}

TEST(RoomModel, FifoLosesNoWakeUp) {
  holds<fifo_in_room>(2, 1, 3);
  holds<fifo_in_room>(3, 1, 1);
  holds<fifo_in_room>(3, 2, 1);
}
TEST(RoomModel, GivingUpLosesNoPermit) {
  holds<impatient_in_room<small_queue<room_machine>>>(2, 1, 2);
  holds<impatient_in_room<small_queue<room_machine>>>(3, 2, 1);
  holds<impatient_in_room<small_queue<room_machine>, 2>>(2, 2, 2);
  holds<one_gives_up_in_room<small_queue<room_machine>>>(3, 3, 1);
}
TEST(RoomModel, ResizingAdmitsNobodyTooEarly) {
  holds<resized_in_room<small_queue<room_machine>, false>>(3, 3, 1);
  holds<resized_in_room<small_queue<room_machine>, true>>(3, 3, 1);
}
TEST(RoomModel, BargingLosesNothing) {
  holds<in_room<small_barging<room_machine, 2>>>(2, 1, 2);
  holds<in_room<small_barging<reluctant_machine, 2>>>(2, 1, 2);
  holds<in_room<small_barging<room_machine, 2>>>(3, 2, 1);
}

TEST(RoomModel, NamesInTheWordAreDistinct) {
  const auto distinct = [](const auto& got) { EXPECT_EQ(got.overall(), verdict::holds) << text(got); };
  const std::vector<std::string> properties{"k-exclusion", "deadlock-free", "starvation-free", "distinct-names"};
  using fifo = named_in_room<ticket_queue<room_machine, small_named_words>>;
  distinct(verdicts<fifo>(2, 1, 2, 0, properties));
  distinct(verdicts<fifo>(2, 2, 1, 0, properties));
  using barging = named_in_room<bounded_barging<room_machine, 2, middle_named_words>>;
  distinct(verdicts<barging>(2, 1, 2, 0, properties));
  const auto lost = verdicts<barging>(2, 1, 2, 0, properties, {.wrong = "drop:n2"});
  EXPECT_EQ(lost.overall(), verdict::violated) << "a permit is left to others without its name: " << text(lost);
}

TEST(RoomModel, NothingIsTouchedAfterTheLastAcquire) {
  holds<destroyed_in_room<mortal_queue>>(2, 2, 1);
  holds<destroyed_in_room<mortal_queue>>(3, 3, 1);
  EXPECT_TRUE(is_broken(verdicts<destroyed_in_room<staring_queue>>(2, 2, 1, 0, promised)))
      << "a leaver that looks at W once more";
  EXPECT_TRUE(is_broken(verdicts<destroyed_in_room<trusting_queue>>(3, 3, 1, 0, promised)))
      << "a leaver that looks at W without a registered waiter";
}
TEST(RoomModel, AnotherSemaphoreAtTheSameAddressIsServedByItsOwnWord) {
  holds<reused_in_room<mortal_queue>>(3, 3, 1);
  EXPECT_TRUE(is_broken(verdicts<reused_in_room<mortal_queue>>(3, 3, 1, 0, promised, {.wrong = "force:s2=0"})))
      << "who is registered is let in without asking W";
}

TEST(RoomMutants, AreCaught) {
  catches<fifo_in_room>(2, 1, 2, "defer:3", "R1: a waiter announces itself after it has looked at W");
  catches<fifo_in_room>(2, 1, 2, "drop:b4", "R1: a leaver does not look whether somebody waits");
  catches<fifo_in_room>(2, 1, 2, "force:b5=1", "a leaver does not serve the queue");
  catches<in_room<deaf_queue>>(2, 1, 2, "", "R2: a leaver that finds the lock held does not ask for more service");
  catches<fifo_in_room>(3, 1, 1, "drop:b7", "a thread that waits for the lock is not woken");
  catches<fifo_in_room>(2, 1, 2, "drop:w1", "R4: who is taken out is not woken");
  catches<fifo_in_room>(2, 1, 2, "drop:w2", "R4: who is taken out is not woken");
  catches<fifo_in_room>(2, 1, 2, "force:4=0", "who registers believes itself admitted");
  catches<impatient_in_room<small_queue<room_machine>>>(2, 1, 2, "drop:17",
                                                        "T4: the first waiter gives up and does not hand on");
  using one_gives_up = one_gives_up_in_room<small_queue<room_machine>>;
  catches<one_gives_up>(3, 3, 1, "force:18=1", "T4: the last waiter gives up and keeps its ticket");
  catches<one_gives_up>(3, 3, 1, "drop:s7", "T4: a ticket given up is not handed back when its turn comes");
  catches<one_gives_up_in_room<careless_queue>>(3, 3, 1, "", "T4: a ticket given up is forgotten");
}

}  // namespace
}  // namespace kgate::lab
