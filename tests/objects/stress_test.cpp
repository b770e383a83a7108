// SPDX-License-Identifier: Apache-2.0
/// Recorded native histories, and the judge of them.

#include "recorded.hpp"

namespace kgate::recorded {
namespace {

using lab::observed_operation;

// Under a sanitizer each takes much longer, and so does judging them.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define KGATE_IS_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define KGATE_IS_SANITIZED 1
#endif
#endif
#if defined(KGATE_IS_SANITIZED)
constexpr long operations = 3'000;
#else
constexpr long operations = 60'000;
#endif

TEST(WaitFreeStress, Counter) { wait_free_is_linearizable<counter>(operations); }
TEST(WaitFreeStress, PriorityQueue) { wait_free_is_linearizable<heap>(operations); }
TEST(WaitFreeStress, FifoQueue) { wait_free_is_linearizable<line>(operations); }
TEST(WaitFreeStress, SmallMap) { wait_free_is_linearizable<dictionary>(operations); }
TEST(ResilientStress, Counter) { resilient_is_linearizable<counter>(operations); }
TEST(ResilientStress, PriorityQueue) { resilient_is_linearizable<heap>(operations); }
TEST(ResilientStress, FifoQueue) { resilient_is_linearizable<line>(operations); }
TEST(ResilientStress, SmallMap) { resilient_is_linearizable<dictionary>(operations); }
TEST(ResilientStress, WithANameForEveryOperation) {
  resilient_is_linearizable<heap, word_slots>(operations);
  resilient_is_linearizable<dictionary, word_slots>(operations);
}
TEST(ResilientStress, WithNamesThatHeal) {
  resilient_is_linearizable<line, healing>(operations);
  resilient_is_linearizable<dictionary, healing>(operations);
}
TEST(ResilientStress, WithNamesApart) {
  resilient_is_linearizable<heap, any_order, 40>(operations);
  resilient_is_linearizable<heap, any_order, 70>(operations);
  resilient_is_linearizable<line, word_slots, 20>(operations);
}
TEST(ResilientStress, PriorityQueueBehindSlotsInOrder) { resilient_is_linearizable<heap, slots>(operations / 4); }

bool linearizable(const std::vector<observed_operation<line>>& history) {
  return lab::linearizer<line>(line(), history).linearizable();
}
observed_operation<line> push(std::int64_t value, std::int64_t begin, std::int64_t end) {
  return {line::push(value), {1, value}, begin, end};
}
observed_operation<line> pop(std::int64_t value, std::int64_t begin, std::int64_t end) {
  return {line::pop(), {1, value}, begin, end};
}
observed_operation<line> pop_nothing(std::int64_t begin, std::int64_t end) { return {line::pop(), {}, begin, end}; }

TEST(Linearizer, OverlappingOperationsHaveAnyOrder) {
  EXPECT_TRUE(linearizable({}));
  EXPECT_TRUE(linearizable({push(1, 0, 10), push(2, 5, 15), pop(2, 20, 30), pop(1, 40, 50)}));
  EXPECT_TRUE(linearizable({push(1, 0, 10), pop(1, 5, 8)}));
  EXPECT_TRUE(linearizable({push(1, 0, 10), pop_nothing(5, 8), pop(1, 9, 20)}));
}

TEST(Linearizer, OthersKeepTheirs) {
  EXPECT_FALSE(linearizable({push(1, 0, 4), push(2, 5, 15), pop(2, 20, 30), pop(1, 40, 50)}));
  EXPECT_FALSE(linearizable({push(1, 0, 10), pop_nothing(11, 12)}));
  EXPECT_FALSE(linearizable({pop(1, 0, 10), push(1, 11, 20)}));
  EXPECT_FALSE(linearizable({push(1, 0, 10), pop(1, 11, 20), pop(1, 12, 20)}));
}

/// An object that is not one: two words, changed one after the other without any care.
struct careless {
  std::atomic<std::int64_t> value{0};
  std::int64_t add(std::int64_t n) {
    const std::int64_t was = value.load();
    ::sched_yield();
    value.store(was + n);
    return was;
  }
};

TEST(Linearizer, CatchesALostUpdate) {
  careless object;
  std::vector<observed_operation<counter>> history(400);
  {
    std::vector<std::jthread> two;
    for (std::size_t t = 0; t < 2; ++t)
      two.emplace_back([&, t] {
        for (std::size_t i = t; i < history.size(); i += 2) {
          history[i].what = counter::add(1);
          history[i].begin = now();
          history[i].result = object.add(1);
          history[i].end = now();
        }
      });
  }
  if (object.value == static_cast<std::int64_t>(history.size())) GTEST_SKIP() << "the two threads never met";
  EXPECT_FALSE(lab::linearizer<counter>(counter(), history).linearizable());
}

}  // namespace
}  // namespace kgate::recorded
