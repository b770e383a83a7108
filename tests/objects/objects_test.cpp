// SPDX-License-Identifier: Apache-2.0
/// The sequential objects against the standard containers, and each construction used by one thread.

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <queue>
#include <random>
#include <stop_token>
#include <thread>
#include <vector>

#include "kgate/algorithms/am97_fastpath.hpp"
#include "kgate/algorithms/am97_figure3.hpp"
#include "kgate/algorithms/am97_names.hpp"
#include "kgate/objects/assigned.hpp"
#include "kgate/objects/in_place.hpp"
#include "kgate/objects/locked.hpp"
#include "kgate/resilient.hpp"

namespace {

using namespace kgate;
using namespace std::chrono_literals;

using heap = priority_queue<std::int64_t, 5>;
using line = fifo_queue<std::int64_t, 5>;
using dictionary = small_map<std::int64_t, std::int64_t, 5>;

/// The same random operations on `object` and on the standard's container.
template <class Apply>
void like_std_priority_queue(Apply&& apply) {
  std::mt19937 random(1);
  std::priority_queue<std::int64_t, std::vector<std::int64_t>, std::greater<>> model;
  for (int i = 0; i < 5000; ++i) {
    const auto value = static_cast<std::int64_t>(random() % 20);
    if (random() % 2 == 0) {
      const bool fits = model.size() < 5;
      EXPECT_EQ(bool(apply(heap::insert(value))), fits);
      if (fits) model.push(value);
    } else {
      const heap::result got = apply(heap::delete_min());
      ASSERT_EQ(bool(got), !model.empty());
      if (!model.empty()) {
        EXPECT_EQ(got.value, model.top());
        model.pop();
      }
    }
  }
}

TEST(PriorityQueue, IsTheStandardsButBounded) {
  heap h;
  like_std_priority_queue([&](const heap::operation& op) { return h.apply(op); });
}

TEST(FifoQueue, IsADequeOfFixedSize) {
  std::mt19937 random(2);
  std::deque<std::int64_t> model;
  wait_free<line, 2> queue;
  for (int i = 0; i < 5000; ++i) {
    if (random() % 2 == 0) {
      const bool fits = model.size() < 5;
      EXPECT_EQ(bool(queue.apply(i % 2, line::push(i))), fits);
      if (fits) model.push_back(i);
    } else {
      const line::result got = queue.apply(i % 2, line::pop());
      ASSERT_EQ(bool(got), !model.empty());
      if (!model.empty()) {
        EXPECT_EQ(got.value, model.front());
        model.pop_front();
      }
    }
  }
}

TEST(SmallMap, IsTheStandardsButBounded) {
  std::mt19937 random(3);
  std::map<std::int64_t, std::int64_t> model;
  wait_free<dictionary, 2> map;
  for (int i = 0; i < 10000; ++i) {
    const auto key = static_cast<std::int64_t>(random() % 8);
    const auto at = model.find(key);
    const bool known = at != model.end();
    const std::int64_t old = known ? at->second : 0;
    dictionary::result got;
    switch (random() % 3) {
      case 0:
        got = map.apply(i % 2, dictionary::find(key));
        break;
      case 1:
        got = map.apply(i % 2, dictionary::put(key, i));
        EXPECT_EQ(got.full != 0, !known && model.size() == 5);
        if (got.full == 0) model[key] = i;
        break;
      default:
        got = map.apply(i % 2, dictionary::erase(key));
        model.erase(key);
    }
    ASSERT_EQ(bool(got), known);
    if (known) {
      EXPECT_EQ(got.value, old);
    }
  }
}

TEST(Constructions, GiveWhatTheSequentialObjectGives) {
  wait_free<heap, 3> alone;
  int turn = 0;
  like_std_priority_queue([&](const heap::operation& op) { return alone.apply(turn++ % 3, op); });
  resilient<heap, 2> two;
  like_std_priority_queue([&](const heap::operation& op) { return two.apply(op); });
  resilient<heap, 1> one;
  like_std_priority_queue([&](const heap::operation& op) { return one.apply(op); });
  resilient<heap, 2, word_slots> two_named;
  like_std_priority_queue([&](const heap::operation& op) { return two_named.apply(op); });
  resilient<heap, 3, healing> three_healing;
  like_std_priority_queue([&](const heap::operation& op) { return three_healing.apply(op); });
  resilient<heap, 1, healing> one_healing;
  like_std_priority_queue([&](const heap::operation& op) { return one_healing.apply(op); });
  resilient<heap, 70> seventy;
  like_std_priority_queue([&](const heap::operation& op) { return seventy.apply(op); });
  resilient<heap, 70, basic_word_slots<70>> seventy_named;
  like_std_priority_queue([&](const heap::operation& op) { return seventy_named.apply(op); });
  resilient<heap, 4, slots> in_order;
  like_std_priority_queue([&](const heap::operation& op) { return in_order.apply(op); });
  resilient<heap, 16> sixteen;
  like_std_priority_queue([&](const heap::operation& op) { return sixteen.apply(op); });
  resilient<heap, 20> twenty;
  like_std_priority_queue([&](const heap::operation& op) { return *twenty.try_apply(op); });
  resilient<heap, 40> many;
  like_std_priority_queue([&](const heap::operation& op) { return many.apply(op); });
  locked<heap> behind_mutex;
  like_std_priority_queue([&](const heap::operation& op) { return behind_mutex.apply(op); });
  mcs_locked<heap> behind_queue(2);
  like_std_priority_queue([&](const heap::operation& op) { return behind_queue.apply(turn++ % 2, op); });
}

TEST(Constructions, TakeTheirSizeAtRunTimeToo) {
  using machine = native<spin>;
  machine::Memory memory;
  herlihy93<machine, heap> object(memory, 70);
  EXPECT_EQ(object.blocks(), 71U);
  machine::Process p(pid(0));
  int turn = 0;
  like_std_priority_queue([&](const heap::operation& op) { return object.apply(p, turn++ % 70, op); });
}

TEST(Constructions, WorkOverThePapersAssignment) {
  using machine = native<spin>;
  using assignment = am97::names<machine, am97::fastpath_nested<machine, am97::figure3>>;
  machine::Memory memory;
  assigned<machine, herlihy93<machine, heap>, assignment, heap> two(memory, 4, 2);
  assigned<machine, in_place<machine, heap>, assignment, heap> one(memory, 4, 1);
  machine::Process p(pid(3));
  like_std_priority_queue([&](const heap::operation& op) { return two.apply(p, op); });
  like_std_priority_queue([&](const heap::operation& op) { return one.apply(p, op); });
}

TEST(WaitFree, StartsFromAGivenState) {
  wait_free<counter, 4> c(counter{40});
  EXPECT_EQ(c.apply(3, counter::add(2)), 40);
  EXPECT_EQ(c.apply(0, counter::read()), 42);
}

TEST(WaitFree, HasOneBlockMoreThanThreads) {
  wait_free<heap, 4> four;
  EXPECT_EQ(four.blocks(), 5U);
  // The state, one word of bits, four results.
  EXPECT_EQ(four.block_bytes(), sizeof(heap) + 8 + 4 * sizeof(heap::result));
}

TEST(WaitFree, RefusesAThreadItDoesNotKnow) {
  wait_free<counter, 2> c;
  EXPECT_DEATH(c.apply(2, counter::read()), "numbered 0..K-1");
}

/// An object whose operation waits for the test.
struct slow {
  struct operation {
    std::atomic<int>* stage;
  };
  using result = int;
  int apply(const operation& op) noexcept {
    if (op.stage == nullptr) return 0;
    int before = 0;
    op.stage->compare_exchange_strong(before, 1);  // one that is overtaken carries it out again
    while (op.stage->load() != 2) std::this_thread::yield();
    return 1;
  }
  std::uint64_t nothing = 0;
};

}  // namespace
template <>
inline constexpr bool kgate::may_refer_elsewhere<slow::operation> = true;
namespace {

template <int K, class Slots>
void gives_up_when_all_slots_are_taken() {
  resilient<slow, K, Slots> object;
  EXPECT_EQ(object.available(), K);
  std::array<std::atomic<int>, K> stages{};
  std::vector<std::jthread> inside;
  for (auto& stage : stages) {
    inside.emplace_back([&] { object.apply({&stage}); });
    while (stage.load() != 1) std::this_thread::yield();
  }
  EXPECT_FALSE(object.try_apply({nullptr}));
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_FALSE(object.try_apply_for({nullptr}, 30ms));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 30ms);
  std::stop_source stop;
  std::jthread impatient([&] {
    std::this_thread::sleep_for(10ms);
    stop.request_stop();
  });
  EXPECT_FALSE(object.apply({nullptr}, stop.get_token()));
  EXPECT_EQ(object.available(), 0);
  for (auto& stage : stages) stage.store(2);
  EXPECT_TRUE(object.try_apply_for({nullptr}, 10s));
  inside.clear();
  EXPECT_EQ(object.available(), K);
}

TEST(Resilient, GivesUpWhenAllSlotsAreTakenForTooLong) {
  gives_up_when_all_slots_are_taken<1, any_order>();    // a lock
  gives_up_when_all_slots_are_taken<3, word_slots>();   // names in the object's word
  gives_up_when_all_slots_are_taken<17, word_slots>();  // and apart
  gives_up_when_all_slots_are_taken<70, basic_word_slots<70>>();
  gives_up_when_all_slots_are_taken<3, slots>();
  gives_up_when_all_slots_are_taken<3, healing>();
}

TEST(Resilient, HasOneBlockMoreThanSlots) {
  EXPECT_EQ((resilient<heap, 4, word_slots>().blocks()), 5U);
  EXPECT_EQ((resilient<heap, 4, healing>().blocks()), 5U);
  EXPECT_EQ((resilient<heap, 4>().block_bytes()), (wait_free<heap, 4>().block_bytes()));
  EXPECT_LT(sizeof(resilient<heap, 4, word_slots>), sizeof(wait_free<heap, 200>) / 50);
}

/// The more the larger the state, the fewer.
TEST(Resilient, HasBlocksForTheFirstThreadsThatUseIt) {
  EXPECT_EQ((resilient<heap, 4>().blocks()), 5U + 16U);
  EXPECT_EQ((resilient<priority_queue<std::int64_t, 16>, 4>().blocks()), 5U + 8U);
  EXPECT_EQ((resilient<priority_queue<std::int64_t, 200>, 4>().blocks()), 5U);
}

TEST(WordSlots, GiveDistinctNumbersAndTakeThemBack) {
  EXPECT_THROW(word_slots(0), std::invalid_argument);
  EXPECT_THROW(word_slots(65), std::invalid_argument);
  word_slots all(32);
  for (int i = 0; i < 32; ++i) EXPECT_EQ(all.acquire(), i);
  EXPECT_FALSE(all.try_acquire());
  EXPECT_FALSE(all.try_acquire_for(0ms));
  EXPECT_FALSE(all.try_acquire_for(5ms));
  EXPECT_TRUE(word_slots(1).try_acquire_for(std::chrono::hours::max()));
  all.release(17);
  EXPECT_EQ(all.available(), 1);
  EXPECT_EQ(all.try_acquire(), 17);
  all.release(3);
  EXPECT_DEATH(all.release(3), "nobody holds");
  EXPECT_DEATH(all.release(32), "does not exist");
}

TEST(WordSlots, AreAsManyAsOneLikes) {
  basic_word_slots<130> all(130);
  for (int i = 0; i < 130; ++i) EXPECT_EQ(all.acquire(), i);
  EXPECT_FALSE(all.try_acquire());
  all.release(64);
  all.release(129);
  EXPECT_EQ(all.available(), 2);
  EXPECT_EQ(all.taken(1), ~std::uint64_t{1});
  EXPECT_EQ(all.acquire(), 64);
  EXPECT_EQ(all.acquire(), 129);
}

}  // namespace
