// SPDX-License-Identifier: Apache-2.0
#include "kgate/semaphore.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;

/// Starts its tickets where a test wants them.
template <class Base>
class starting_at : public Base {
 public:
  starting_at(std::ptrdiff_t k, std::uint64_t first) : Base(k, first) {}
};

template <class S>
class semaphore_kinds : public testing::Test {};
using kinds = testing::Types<kgate::basic_semaphore<>, kgate::basic_semaphore<kgate::fifo, kgate::spin>,
                             kgate::basic_semaphore<kgate::fifo, kgate::spin_yield>,
                             kgate::basic_semaphore<kgate::fifo, kgate::spin_park>,
                             kgate::basic_semaphore<kgate::bounded_overtaking<>>,
                             kgate::basic_semaphore<kgate::bounded_overtaking<4>, kgate::adaptive, kgate::statistics>>;
TYPED_TEST_SUITE(semaphore_kinds, kinds);

TYPED_TEST(semaphore_kinds, counts_permits) {
  TypeParam s(3);
  EXPECT_EQ(s.available(), 3);
  s.acquire();
  EXPECT_TRUE(s.try_acquire());
  EXPECT_EQ(s.holders(), 2);
  s.acquire();
  EXPECT_FALSE(s.try_acquire());
  s.release(2);
  EXPECT_EQ(s.available(), 2);
  EXPECT_TRUE(s.try_acquire(2));
  EXPECT_FALSE(s.try_acquire());
  s.release(3);
  EXPECT_EQ(s.available(), 3);
}

/// More threads than processors, unless they would spin for whole time slices.
template <class S>
constexpr int crowd = 5;
template <>
constexpr int crowd<kgate::basic_semaphore<kgate::fifo, kgate::spin>> = 2;

TYPED_TEST(semaphore_kinds, never_more_than_k_inside_across_the_ticket_wrap) {
  for (const int k : {1, 2, 3}) {
    starting_at<TypeParam> s(k, (std::uint64_t{1} << 32) - 50);
    std::atomic<int> inside{0}, most{0};
    std::vector<std::jthread> threads;
    for (int i = 0; i < crowd<TypeParam>; ++i)
      threads.emplace_back([&] {
        for (int n = 0; n < 400; ++n) {
          s.acquire();
          const int now = ++inside;
          int seen = most.load();
          while (seen < now && !most.compare_exchange_weak(seen, now)) {
          }
          if (n % 8 == 0) std::this_thread::yield();
          --inside;
          s.release();
        }
      });
    threads.clear();
    EXPECT_LE(most.load(), k);
    EXPECT_EQ(s.available(), k);
    EXPECT_EQ(s.waiters(), 0);
  }
}

TYPED_TEST(semaphore_kinds, gives_up_in_time_and_leaves_nothing_behind) {
  TypeParam s(1);
  s.acquire();
  const auto start = std::chrono::steady_clock::now();
  EXPECT_FALSE(s.try_acquire_for(20ms));
  EXPECT_FALSE(s.try_acquire_until(std::chrono::system_clock::now() + 20ms));
  EXPECT_GE(std::chrono::steady_clock::now() - start, 40ms);
  s.release();
  EXPECT_TRUE(s.try_acquire_for(0ms));
  s.release();
  EXPECT_EQ(s.available(), 1);
}

TYPED_TEST(semaphore_kinds, a_ticket_given_up_in_the_middle_is_passed_over) {
  TypeParam s(1);
  s.acquire();
  std::atomic<bool> gave_up{false}, entered{false};
  std::jthread first([&] { gave_up = !s.try_acquire_for(50ms); });
  std::this_thread::sleep_for(20ms);
  std::jthread second([&] {
    s.acquire();
    entered = true;
    s.release();
  });
  first.join();
  EXPECT_TRUE(gave_up);
  EXPECT_FALSE(entered);
  s.release();
  second.join();
  EXPECT_TRUE(entered);
  EXPECT_EQ(s.available(), 1);
}

TYPED_TEST(semaphore_kinds, stop_ends_the_wait_at_once) {
  TypeParam s(1);
  s.acquire();
  std::stop_source stop;
  bool entered = true;
  std::jthread waiter([&] { entered = s.acquire(stop.get_token()); });
  std::this_thread::sleep_for(20ms);
  stop.request_stop();
  waiter.join();
  EXPECT_FALSE(entered);
  s.release();
  EXPECT_EQ(s.available(), 1);
}

TYPED_TEST(semaphore_kinds, heavy_requests_are_not_passed_by_light_ones) {
  TypeParam s(3);
  s.acquire(2);
  std::atomic<int> order{0};
  int heavy = 0, light = 0;
  std::jthread first([&] {
    s.acquire(3);
    heavy = ++order;
    s.release(3);
  });
  while (s.waiters() < 1 && s.try_acquire()) s.release();
  std::this_thread::sleep_for(20ms);
  std::jthread second([&] {
    s.acquire();
    light = ++order;
    s.release();
  });
  std::this_thread::sleep_for(20ms);
  EXPECT_EQ(order, 0);
  s.release(2);
  first.join();
  second.join();
  EXPECT_EQ(heavy, 1);
  EXPECT_EQ(light, 2);
  EXPECT_EQ(s.available(), 3);
}

TYPED_TEST(semaphore_kinds, a_heavy_request_given_up_hands_back_what_it_had) {
  TypeParam s(3);
  s.acquire(2);
  std::jthread behind;
  bool entered = true;
  std::jthread heavy([&] { entered = s.try_acquire_for(60ms, 3); });
  std::this_thread::sleep_for(20ms);
  behind = std::jthread([&] { s.acquire(); });
  heavy.join();
  behind.join();
  EXPECT_FALSE(entered);
  EXPECT_EQ(s.available(), 0);
  s.release(3);
  EXPECT_EQ(s.available(), 3);
}

TYPED_TEST(semaphore_kinds, shrinking_admits_nobody_until_under_k) {
  TypeParam s(3);
  s.acquire(3);
  s.resize(1);
  s.release();
  EXPECT_FALSE(s.try_acquire());
  s.release();
  EXPECT_FALSE(s.try_acquire());
  s.release();
  EXPECT_TRUE(s.try_acquire());
  s.resize(2);
  EXPECT_TRUE(s.try_acquire());
  EXPECT_FALSE(s.try_acquire());
  s.release(2);
  EXPECT_EQ(s.available(), 2);
}

TYPED_TEST(semaphore_kinds, growing_admits_those_queued) {
  TypeParam s(1);
  s.acquire();
  std::jthread a([&] { s.acquire(); }), b([&] { s.acquire(); });
  std::this_thread::sleep_for(20ms);
  s.resize(3);
  a.join();
  b.join();
  s.release(3);
  EXPECT_EQ(s.available(), 3);
}

}  // namespace
