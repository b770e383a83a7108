// SPDX-License-Identifier: Apache-2.0
#include "kgate/slots.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "kgate/pool.hpp"

namespace {

using namespace std::chrono_literals;

TEST(slots, numbers_are_low_and_distinct) {
  kgate::slots s(3);
  EXPECT_EQ(s.acquire(), 0);
  EXPECT_EQ(s.acquire(), 1);
  EXPECT_EQ(s.try_acquire(), 2);
  EXPECT_EQ(s.try_acquire(), std::nullopt);
  s.release(1);
  EXPECT_EQ(s.try_acquire_for(1ms), 1);
  for (const int i : {2, 0, 1}) s.release(i);
  EXPECT_EQ(s.available(), 3);
}

TEST(slots, more_than_a_word_of_them) {
  kgate::slots s(130);
  std::set<std::ptrdiff_t> seen;
  for (int i = 0; i < 130; ++i) seen.insert(s.acquire());
  EXPECT_EQ(seen.size(), 130U);
  EXPECT_EQ(*seen.rbegin(), 129);
  s.release(64);
  EXPECT_EQ(s.acquire(), 64);
  for (int i = 0; i < 130; ++i) s.release(i);
}

TEST(slots, no_number_is_held_twice_by_a_crowd) {
  for (const int k : {1, 3, 70}) {
    kgate::slots s(k);
    std::vector<std::atomic<int>> held(static_cast<std::size_t>(k));
    std::atomic<bool> twice{false};
    std::vector<std::jthread> threads;
    for (int i = 0; i < 6; ++i)
      threads.emplace_back([&] {
        for (int n = 0; n < 3000; ++n) {
          const kgate::slot mine(s);
          auto& mark = held[static_cast<std::size_t>(mine.number())];
          if (mark.fetch_add(1) != 0) twice = true;
          mark.fetch_sub(1);
        }
      });
    threads.clear();
    EXPECT_FALSE(twice) << "k = " << k;
    EXPECT_EQ(s.available(), k);
  }
}

TEST(slots, stop_ends_the_wait) {
  kgate::slots s(1);
  const kgate::slot held(s);
  std::stop_source stop;
  std::jthread stopper([&] {
    std::this_thread::sleep_for(10ms);
    stop.request_stop();
  });
  const kgate::slot none(s, stop.get_token());
  EXPECT_FALSE(none);
}

TEST(slots_misuse, is_told) {
  kgate::slots s(2);
  EXPECT_THROW(kgate::slots(0), std::invalid_argument);
  EXPECT_DEATH(s.release(0), "slot that nobody holds");
  EXPECT_DEATH(s.release(2), "slot that does not exist");
}

TEST(pool, makes_objects_as_needed_and_lends_them_again) {
  int made = 0;
  kgate::pool<int> p(4, [&](std::ptrdiff_t slot) {
    ++made;
    return static_cast<int>(10 * slot);
  });
  {
    const auto a = p.borrow();
    EXPECT_EQ(*a, 0);
    *a = 5;
  }
  const auto again = p.borrow();
  EXPECT_EQ(*again, 5);
  EXPECT_EQ(made, 1);
  const auto other = p.try_borrow();
  EXPECT_EQ(*other, 10);
  EXPECT_EQ(other.slot(), 1);
  EXPECT_EQ(made, 2);
}

TEST(pool, at_most_k_are_lent) {
  kgate::pool<std::unique_ptr<int>> p(2, [](std::ptrdiff_t) { return std::make_unique<int>(1); });
  const auto a = p.borrow(), b = p.borrow();
  EXPECT_FALSE(p.try_borrow());
  EXPECT_FALSE(p.try_borrow_for(5ms));
}

TEST(pool, what_was_discarded_is_made_anew_and_a_failed_maker_frees_the_slot) {
  int made = 0;
  kgate::pool<int> p(1, [&](std::ptrdiff_t) {
    if (++made == 2) throw std::runtime_error("no object today");
    return made;
  });
  p.borrow().discard();
  EXPECT_THROW((void)p.borrow(), std::runtime_error);
  EXPECT_EQ(p.available(), 1);
  EXPECT_EQ(*p.borrow(), 3);
}

TEST(pool, an_object_has_one_borrower_at_a_time) {
  kgate::pool<long> p(3);
  std::vector<std::jthread> threads;
  for (int i = 0; i < 6; ++i)
    threads.emplace_back([&] {
      for (int n = 0; n < 2000; ++n) ++*p.borrow();
    });
  threads.clear();
  const auto a = p.borrow(), b = p.borrow(), c = p.borrow();
  EXPECT_EQ(*a + *b + *c, 12000);
}

// A lease that was moved from has no object, and discarding it destroys nobody's.
TEST(pool_lease, discarded_after_a_move_or_empty_does_nothing) {
  kgate::pool<int> numbers(2, [](std::ptrdiff_t slot) { return static_cast<int>(10 + slot); });
  auto first = numbers.borrow();
  auto moved = std::move(first);
  first.discard();  // NOLINT(bugprone-use-after-move)
  EXPECT_FALSE(first);
  ASSERT_TRUE(moved);
  EXPECT_EQ(*moved, 10);
  EXPECT_EQ(numbers.available(), 1);
  kgate::pool<int>::lease empty;
  empty.discard();
  moved.discard();
  EXPECT_EQ(numbers.available(), 2);
}
TEST(slots_limits, time_and_stop_together) {
  kgate::slots s(1);
  kgate::slot held(s);
  std::stop_source stop;
  EXPECT_EQ(s.try_acquire_for(stop.get_token(), 1ms), std::nullopt);
  EXPECT_EQ(s.try_acquire_until(stop.get_token(), std::chrono::steady_clock::time_point::min()), std::nullopt);
  stop.request_stop();
  EXPECT_EQ(s.try_acquire_for(stop.get_token(), 1h), std::nullopt);
  held.reset();
  EXPECT_EQ(s.try_acquire_for(stop.get_token(), 1h), 0);
  s.release(0);
  s.close();
  EXPECT_EQ(s.try_acquire(), std::nullopt);
  EXPECT_THROW((void)s.acquire(), kgate::refused);
}

}  // namespace
