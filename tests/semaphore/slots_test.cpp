// SPDX-License-Identifier: Apache-2.0
#include "kgate/slots.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
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
  for (const int k : {1, 3, 70, 5000}) {
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

TEST(slots, resize_moves_the_bound_of_the_numbers) {
  kgate::slots s(2, 5);
  EXPECT_EQ(s.capacity(), 5);
  const kgate::slot zero(s);
  kgate::slot one(s), none(s, std::try_to_lock);
  EXPECT_FALSE(none);
  s.resize(5);
  kgate::slot two(s), three(s);
  EXPECT_EQ(three.number(), 3);
  s.resize(2);
  EXPECT_EQ(s.size(), 2);
  one.reset();
  EXPECT_EQ(s.try_acquire(), std::nullopt) << "three are inside";
  two.reset();
  EXPECT_EQ(s.try_acquire(), std::nullopt) << "two are inside";
  three.reset();
  const kgate::slot next(s);
  EXPECT_EQ(next.number(), 1);
  EXPECT_THROW(s.resize(6), std::invalid_argument);
  EXPECT_THROW(s.resize(0), std::invalid_argument);
  EXPECT_THROW(kgate::slots(3, 2), std::invalid_argument);
}

TEST(slots, an_empty_one_has_no_number) {
  kgate::slots s(2);
  kgate::slot first(s), second(std::move(first));
  EXPECT_EQ(second.number(), 0);
  EXPECT_EQ(first.forget(), -1);  // NOLINT(bugprone-use-after-move): this is what is tested
  EXPECT_DEATH(static_cast<void>(first.number()), "an empty slot has no number");
  EXPECT_DEATH(static_cast<void>(kgate::slot().number()), "an empty slot has no number");
  second.reset();
  EXPECT_DEATH(static_cast<void>(second.number()), "an empty slot has no number");
}

// More words of names than one have words above them that say where to look.
TEST(slots, after_a_resize_to_fewer_only_low_numbers_are_given) {
  kgate::slots s(300);
  std::vector<kgate::slot> held(300);
  for (kgate::slot& one : held) one = kgate::slot(s);
  s.resize(70);
  for (std::size_t i = 0; i < 300; i += 3) held[i].reset();
  for (std::size_t i = 1; i < 300; i += 3) held[i].reset();
  EXPECT_EQ(s.try_acquire(), std::nullopt);
  for (std::size_t i = 2; i < 300; i += 3) held[i].reset();
  for (int i = 0; i < 70; ++i) held[static_cast<std::size_t>(i)] = kgate::slot(s);
  for (int i = 0; i < 70; ++i) EXPECT_LT(held[static_cast<std::size_t>(i)].number(), 70);
}

TEST(slots, the_last_of_a_million_is_found_quickly) {
  const auto nanoseconds = [](std::ptrdiff_t k) {
    kgate::slots s(k);
    for (std::ptrdiff_t i = 0; i + 1 < k; ++i) static_cast<void>(s.acquire());
    auto least = std::chrono::nanoseconds::max();
    for (int round = 0; round < 20; ++round) {
      const auto before = std::chrono::steady_clock::now();
      for (int i = 0; i < 100; ++i) s.release(s.acquire());
      least = std::min<std::chrono::nanoseconds>(least, std::chrono::steady_clock::now() - before);
    }
    for (std::ptrdiff_t i = 0; i + 1 < k; ++i) s.release(i);
    return static_cast<double>(least.count()) / 100;
  };
  EXPECT_LT(nanoseconds(kgate::slots::max()), 50 * nanoseconds(64));
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

TEST(slots_misuse, is_reported) {
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

TEST(pool, can_be_resized) {
  int made = 0, destroyed = 0;
  struct counted {
    int* gone;
    explicit counted(int* count) : gone(count) {}
    counted(const counted&) = delete;
    counted& operator=(const counted&) = delete;
    ~counted() { ++*gone; }
  };
  {
    const auto make = [&](std::ptrdiff_t) {
      ++made;
      return &destroyed;
    };
    kgate::pool<counted> p(1, make, 3);
    auto first = p.borrow();
    EXPECT_FALSE(p.try_borrow());
    p.resize(3);
    auto second = p.borrow(), third = p.borrow();
    EXPECT_EQ(made, 3);
    p.resize(2);
    third.give_back();
    EXPECT_EQ(destroyed, 1) << "beyond the new size";
    second.give_back();
    EXPECT_EQ(destroyed, 1);
    EXPECT_THROW(p.resize(4), std::invalid_argument);
  }
  EXPECT_EQ(destroyed, 3);
}

template <class Call>
std::string said(Call&& call) {
  try {
    call();
  } catch (const std::exception& e) {
    return e.what();
  }
  return "nothing";
}
TEST(slots_errors, speak_of_what_was_made) {
  const std::string range = "k must be at least 1 and at most the capacity, which is at most max()";
  kgate::slots s(1, 2);
  EXPECT_EQ(said([] { kgate::slots none(0); }), "kgate::slots: " + range);
  EXPECT_EQ(said([] { kgate::slots none(3, 2); }), "kgate::slots: " + range);
  EXPECT_EQ(said([&] { s.resize(0); }), "kgate::slots: " + range);
  EXPECT_EQ(said([&] { s.resize(3); }), "kgate::slots: " + range);
  const auto make = [](std::ptrdiff_t slot) { return static_cast<int>(slot); };
  kgate::pool<int> p(1, make, 2);
  EXPECT_EQ(said([&] { kgate::pool<int> none(0, make); }), "kgate::pool: " + range);
  EXPECT_EQ(said([&] { kgate::pool<int> none(3, make, 2); }), "kgate::pool: " + range);
  EXPECT_EQ(said([&] { kgate::pool<int> none(1, make, kgate::slots::max() + 1); }), "kgate::pool: " + range);
  EXPECT_EQ(said([&] { p.resize(0); }), "kgate::pool: " + range);
  EXPECT_EQ(said([&] { p.resize(3); }), "kgate::pool: " + range);
  s.close();
  p.close();
  EXPECT_EQ(said([&] { (void)s.acquire(); }), "kgate: closed: nobody gets a permit any more");
  EXPECT_EQ(said([&] { (void)p.borrow(); }), "kgate: closed: nobody gets a permit any more");
}
TEST(slots_errors, destroying_them_under_a_waiter_stops_the_program) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(
      {
        auto s = std::make_unique<kgate::slots>(1);
        (void)s->acquire();
        std::thread waiter([&] { (void)s->acquire(); });
        while (s->waiters() == 0) std::this_thread::sleep_for(1ms);
        s.reset();
        waiter.join();
      },
      "slots destroyed while somebody waits for one");
}

// A lease that was moved from has no object, and discarding it destroys none.
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
