// SPDX-License-Identifier: Apache-2.0
/// What becomes of a lease that is empty, moved from or too old, and which objects a pool can hold.

#include "kgate/pool.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

namespace kgate {
namespace {

/// Tells how many of its kind there are.
struct counted {
  counted() { ++alive; }
  counted(counted&&) noexcept { ++alive; }
  ~counted() { --alive; }
  int value = 7;
  static inline std::atomic<int> alive{0};
};

TEST(Lease, IsEmptyAfterAMove) {
  pool<counted> objects(2);
  auto first = objects.borrow();
  auto second = std::move(first);
  EXPECT_FALSE(first);  // NOLINT: what is left of it is the question
  first.discard();
  first.give_back();
  EXPECT_EQ(counted::alive, 1);
  EXPECT_EQ(second->value, 7);
  EXPECT_EQ(objects.available(), 1);
  auto third = objects.borrow();
  third = std::move(second);
  EXPECT_EQ(third.slot(), 0);
  second.discard();
  EXPECT_EQ(counted::alive, 2);
  third.discard();
  EXPECT_EQ(counted::alive, 1);
  EXPECT_EQ(objects.available(), 2);
  third.discard();  // once is enough
  EXPECT_EQ(counted::alive, 1);
}

TEST(Lease, ThatIsEmptyHasNothingToDiscard) {
  pool<int> objects(1);
  pool<int>::lease none;
  none.discard();
  none.give_back();
  const auto all = objects.borrow();
  auto refused = objects.try_borrow();
  EXPECT_FALSE(refused);
  refused.discard();
  EXPECT_EQ(objects.available(), 0);
  EXPECT_DEATH(static_cast<void>(*refused), "empty lease");
  EXPECT_DEATH(static_cast<void>(refused.slot()), "empty lease");
}

TEST(Lease, MustNotOutliveItsPool) {
  EXPECT_DEATH(
      {
        pool<int>::lease kept;
        pool<int> objects(1);
        kept = objects.borrow();
      },
      "destroyed while an object is lent");
}

TEST(Lease, MustNotOutliveAClosedPool) {
  EXPECT_DEATH(
      {
        pool<int>::lease kept;
        pool<int> objects(1);
        kept = objects.borrow();
        objects.close();
      },
      "destroyed while an object is lent");
}

TEST(Pool, RefusesEverybodyOnceItIsClosed) {
  pool<std::shared_ptr<int>> objects(1, [](std::ptrdiff_t) { return std::make_shared<int>(7); });
  auto lent = objects.borrow();
  const std::weak_ptr<int> object = *lent;
  std::atomic<int> refusals{0}, empty{0};
  std::jthread waits([&] {
    try {
      static_cast<void>(objects.borrow());
    } catch (const refused& why) {
      refusals += why.why() == refused::reason::closed;
    }
  });
  std::jthread waits_a_while([&] { empty += !objects.try_borrow_for(std::chrono::hours(1)); });
  while (objects.waiters() < 2) std::this_thread::yield();
  objects.close();
  waits.join();
  waits_a_while.join();
  EXPECT_EQ(refusals, 1);
  EXPECT_EQ(empty, 1);
  EXPECT_TRUE(objects.closed());
  EXPECT_EQ(objects.size(), 0);
  EXPECT_FALSE(objects.try_borrow());
  EXPECT_EQ(*object.lock(), 7);
  lent.give_back();
  EXPECT_TRUE(object.expired());
}

/// Whichever comes first of a stop and a time limit ends the wait; and what is given back before, too.
TEST(Pool, IsWaitedForUntilAStopOrForATime) {
  pool<int> objects(1);
  auto lent = objects.borrow();
  const auto waits_for = [&](std::chrono::nanoseconds limit, auto&& meanwhile) {
    std::stop_source stop;
    bool got = false;
    std::jthread waits([&] { got = static_cast<bool>(objects.try_borrow_for(stop.get_token(), limit)); });
    meanwhile(stop);
    waits.join();
    EXPECT_EQ(objects.waiters(), 0);
    return got;
  };
  const auto until_it_waits = [&] {
    while (objects.waiters() == 0) std::this_thread::yield();
  };
  EXPECT_FALSE(waits_for(std::chrono::milliseconds(5), [](std::stop_source&) {}));
  EXPECT_FALSE(waits_for(std::chrono::hours(1), [&](std::stop_source& stop) {
    until_it_waits();
    stop.request_stop();
  }));
  EXPECT_FALSE(waits_for(std::chrono::hours(1), [](std::stop_source& stop) { stop.request_stop(); }));
  EXPECT_TRUE(waits_for(std::chrono::hours(1), [&](std::stop_source&) {
    until_it_waits();
    lent.give_back();
  }));
  EXPECT_EQ(objects.available(), 1);
}

TEST(Pool, TakesAFactoryThatCannotBeCopied) {
  pool<int> objects(2,
                    [base = std::make_unique<int>(40)](std::ptrdiff_t slot) { return *base + static_cast<int>(slot); });
  const auto first = objects.borrow(), second = objects.borrow();
  EXPECT_EQ(*first + *second, 81);
}

struct immovable {
  explicit immovable(int n) : number(n) {}
  immovable(const immovable&) = delete;
  immovable& operator=(const immovable&) = delete;
  int number;
};
struct alignas(256) wide {
  int number = 0;
};

TEST(Pool, HoldsObjectsThatCannotMove) {
  pool<immovable> numbers(2, [](std::ptrdiff_t slot) { return immovable(static_cast<int>(slot) + 10); });
  const auto a = numbers.borrow();
  const auto b = numbers.borrow();
  EXPECT_EQ(a->number, 10);
  EXPECT_EQ(b->number, 11);
  pool<std::atomic<int>> counters(1);
  EXPECT_EQ(++*counters.borrow(), 1);
  EXPECT_EQ(++*counters.borrow(), 2);
}

TEST(Pool, KeepsTheirAlignment) {
  pool<wide> objects(3);
  const auto first = objects.borrow();
  const auto second = objects.borrow();
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&*first) % 256, 0U);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&*second) % 256, 0U);
}

/// A slow connection must not keep the others from making theirs: this would hang if only one could at a time.
TEST(Pool, MakesObjectsInSeveralThreadsAtOnce) {
  std::barrier both(2);
  pool<int> objects(2, [&](std::ptrdiff_t slot) {
    both.arrive_and_wait();
    return static_cast<int>(slot);
  });
  std::vector<std::jthread> threads;
  for (int t = 0; t < 2; ++t)
    threads.emplace_back([&] {
      const auto mine = objects.borrow();
      EXPECT_EQ(*mine, mine.slot());
    });
}

TEST(Pool, HasTheSlotBackIfAnObjectCannotBeMade) {
  int tries = 0;
  pool<int> objects(1, [&](std::ptrdiff_t) { return ++tries == 1 ? throw std::runtime_error("no") : tries; });
  EXPECT_THROW(static_cast<void>(objects.borrow()), std::runtime_error);
  EXPECT_EQ(objects.available(), 1);
  EXPECT_EQ(*objects.borrow(), 2);
}

}  // namespace
}  // namespace kgate
