// SPDX-License-Identifier: Apache-2.0
/// As the quick stress, for as many operations as a program makes in hours: at a thousand a second, two million in half
/// an hour for each of nine objects, four and a half hours in all. Each operation is recorded and judged.

#include "recorded.hpp"

namespace kgate::recorded {
namespace {

constexpr long operations = 2'000'000;

TEST(WaitFreeStressDeep, Counter) { wait_free_is_linearizable<counter>(operations); }
TEST(WaitFreeStressDeep, PriorityQueue) { wait_free_is_linearizable<heap>(operations); }
TEST(WaitFreeStressDeep, FifoQueue) { wait_free_is_linearizable<line>(operations); }
TEST(WaitFreeStressDeep, SmallMap) { wait_free_is_linearizable<dictionary>(operations); }
TEST(ResilientStressDeep, Counter) { resilient_is_linearizable<counter>(operations); }
TEST(ResilientStressDeep, PriorityQueue) { resilient_is_linearizable<heap>(operations); }
TEST(ResilientStressDeep, FifoQueue) { resilient_is_linearizable<line>(operations); }
TEST(ResilientStressDeep, SmallMap) { resilient_is_linearizable<dictionary>(operations); }
TEST(ResilientStressDeep, PriorityQueueBehindSlotsInOrder) { resilient_is_linearizable<heap, slots>(operations); }

}  // namespace
}  // namespace kgate::recorded
