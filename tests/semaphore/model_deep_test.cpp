// SPDX-License-Identifier: Apache-2.0
// What takes minutes: more passages, more processes.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <vector>

#include "lab_gates.hpp"
#include "room_gates.hpp"
#include "suspended_gates.hpp"

namespace kgate::lab {
namespace {

const std::vector<std::string> promised{"k-exclusion", "deadlock-free", "starvation-free", "bounded-exit", "fife"};
const std::vector<std::string> in_room_promised{"k-exclusion", "deadlock-free", "starvation-free"};

template <class Gate>
void holds_in_room(int N, int k, int passages, int first_more = 0) {
  const auto got = verdicts<Gate>(N, k, passages, 0, in_room_promised, {.first_more = first_more, .gigabytes = 9});
  EXPECT_EQ(got.overall(), verdict::holds) << "N = " << N << ", k = " << k << ": " << text(got);
}

/// For what has more states than there is memory for: as far as it goes nothing is wrong, and nothing but the memory
/// ends it.
template <class Gate>
void nothing_is_wrong_in_room(int N, int k, int passages) {
  const auto got = verdicts<Gate>(N, k, passages, 0, in_room_promised, {.gigabytes = 1});
  EXPECT_NE(got.overall(), verdict::violated) << text(got);
  if (got.overall() == verdict::holds) return;
  std::string why = got.why;
  for (const property_result& one : got.properties) why += one.why;
  EXPECT_NE(why.find("memory limit reached"), std::string::npos) << why;
  EXPECT_GT(got.states, 10'000'000U);
  std::printf("undecided, nothing wrong: %s\n", text(got).c_str());
}

TEST(KgateModelDeep, FifoN3k2ThreePassages) {
  const auto got = verdicts<fifo_gate>(3, 2, 3, 1, promised);
  EXPECT_EQ(got.overall(), verdict::holds) << text(got);
}
TEST(KgateModelDeep, FifoN4k3TwoPassages) {
  const auto got = verdicts<fifo_gate>(4, 3, 2, 2, promised, {.gigabytes = 9});
  EXPECT_EQ(got.overall(), verdict::holds) << text(got);
}
TEST(RoomModelDeep, FifoN3k2TwoPassages) { holds_in_room<fifo_in_room>(3, 2, 2); }
TEST(RoomModelDeep, FifoN3k1OneComesTwice) { holds_in_room<fifo_in_room>(3, 1, 1, 1); }
TEST(RoomModelDeep, GivingUpN3k1ByOne) { holds_in_room<impatient_in_room<small_queue<room_machine>, 1, 1>>(3, 1, 1); }
TEST(RoomModelDeep, ResizedN4k2) { holds_in_room<resized_in_room<small_queue<room_machine>, false>>(4, 3, 1); }
TEST(RoomModelDeep, FifoN3k1TwoPassages) { nothing_is_wrong_in_room<fifo_in_room>(3, 1, 2); }
TEST(RoomModelDeep, GivingUpN3k1) { nothing_is_wrong_in_room<impatient_in_room<small_queue<room_machine>>>(3, 1, 1); }
TEST(RoomModelDeep, ResizedN4k3) {
  nothing_is_wrong_in_room<resized_in_room<small_queue<room_machine>, false>>(4, 4, 1);
}
TEST(RoomModelDeep, FifoN4k2) { holds_in_room<fifo_in_room>(4, 2, 1); }
TEST(RoomModelDeep, GivingUpWithWeightsN3k2) {
  holds_in_room<impatient_in_room<small_queue<room_machine>, 2>>(3, 2, 1);
}
TEST(RoomModelDeep, TakingOutOneOfTwoIsCaught) {
  const auto got = verdicts<impatient_in_room<stingy_queue, 2>>(3, 2, 1, 0, in_room_promised);
  EXPECT_EQ(got.overall(), verdict::violated) << "R5: " << text(got);
}
TEST(SuspendedModelDeep, CancelledN4) { holds_in_room<cancelled_in_room<small_queue<room_machine>, 1>>(4, 4, 1); }
TEST(RoomModelDeep, ReuseN4) { holds_in_room<reused_in_room<mortal_queue>>(4, 4, 1); }
TEST(RoomModelDeep, BargingN3k1) { holds_in_room<in_room<small_barging<room_machine, 2>>>(3, 1, 1); }
TEST(RoomModelDeep, BargingGivingUpN2k1) { holds_in_room<impatient_in_room<small_barging<room_machine, 2>>>(2, 1, 2); }
TEST(RoomModelDeep, BargingResized) { holds_in_room<resized_in_room<small_barging<room_machine, 2>, true>>(3, 3, 1); }
TEST(RoomModelDeep, NamesInTheWordN3k2) {
  auto properties = in_room_promised;
  properties.push_back("distinct-names");
  const auto fifo = verdicts<named_in_room<ticket_queue<room_machine, small_named_words>>>(3, 2, 1, 0, properties);
  EXPECT_EQ(fifo.overall(), verdict::holds) << text(fifo);
  const auto barging =
      verdicts<named_in_room<bounded_barging<room_machine, 2, middle_named_words>>>(3, 2, 1, 0, properties);
  EXPECT_EQ(barging.overall(), verdict::holds) << text(barging);
}

}  // namespace
}  // namespace kgate::lab
