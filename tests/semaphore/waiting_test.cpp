// SPDX-License-Identifier: Apache-2.0
// How waiting goes: in order, asleep, woken at once, and with more threads than permits.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include "kgate/semaphore.hpp"

namespace {

using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;

double cpu_seconds() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  return static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

void until_waiting(const kgate::semaphore& s, std::ptrdiff_t count) {
  while (s.waiters() < count) std::this_thread::sleep_for(1ms);
}

TEST(semaphore_waiting, is_in_the_order_of_arrival) {
  kgate::semaphore s(1);
  s.acquire();
  std::vector<int> order;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      s.acquire();
      order.push_back(i);
      s.release();
    });
    until_waiting(s, i + 1);
  }
  s.release();
  threads.clear();
  EXPECT_EQ(order, (std::vector{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(semaphore_waiting, keeps_no_processor_busy) {
  kgate::semaphore s(1);
  s.acquire();
  std::vector<std::jthread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      s.acquire();
      s.release();
    });
  until_waiting(s, 8);
  const double before = cpu_seconds();
  std::this_thread::sleep_for(400ms);
  EXPECT_LT(cpu_seconds() - before, 0.08) << "eight sleepers";
  s.release();
}

// A wake-up that got lost would be noticed by the sleeper's own look only, 20 ms later or more.
TEST(semaphore_waiting, ends_with_a_wake_up_and_not_with_a_poll) {
  kgate::semaphore s(1);
  std::vector<clock_type::duration> delays;
  for (int i = 0; i < 15; ++i) {
    s.acquire();
    clock_type::time_point entered;
    std::jthread waiter([&] {
      s.acquire();
      entered = clock_type::now();
      s.release();
    });
    until_waiting(s, 1);
    std::this_thread::sleep_for(2ms);
    const auto left = clock_type::now();
    s.release();
    waiter.join();
    delays.push_back(entered - left);
  }
  std::sort(delays.begin(), delays.end());
  EXPECT_LT(delays[delays.size() / 2], 10ms);
}

TEST(semaphore_waiting, of_many_mixes_timed_and_untimed_ones) {
  kgate::semaphore s(2);
  std::atomic<int> inside{0}, passed{0};
  std::atomic<bool> crowded{false};
  std::vector<std::jthread> threads;
  for (int i = 0; i < 20; ++i)
    threads.emplace_back([&, i] {
      for (int n = 0; n < 50; ++n) {
        if (i % 2 == 0)
          s.acquire();
        else if (!s.try_acquire_for(10s))
          continue;
        if (++inside > 2) crowded = true;
        std::this_thread::yield();
        --inside;
        ++passed;
        s.release();
      }
    });
  threads.clear();
  EXPECT_FALSE(crowded);
  EXPECT_EQ(passed, 1000);
  EXPECT_EQ(s.available(), 2);
}

// 12 threads, 2 permits: one that is queued has at most 11 before it, and under fifo none passes.
constexpr int crowd = 12, crowd_permits = 2;
template <class Fairness>
void count_crowd(kgate::statistics& into, int passages) {
  kgate::basic_semaphore<Fairness, kgate::adaptive, kgate::statistics> s(crowd_permits);
  std::vector<std::jthread> threads;
  for (int i = 0; i < crowd; ++i)
    threads.emplace_back([&] {
      for (int n = 0; n < passages; ++n) {
        s.acquire();
        for (int j = 0; j < 20; ++j) kgate::cpu_relax();
        s.release();
      }
    });
  threads.clear();
  into.overtakings = s.counts().overtakings.load();
  into.most_overtaken = s.counts().most_overtaken.load();
  into.most_admitted_meanwhile = s.counts().most_admitted_meanwhile.load();
}
TEST(semaphore_waiting, is_overtaken_by_nobody_under_fifo) {
  kgate::statistics got;
  for (int tries = 0; tries < 10 && got.most_admitted_meanwhile == 0;
       ++tries)  // whether threads meet is up to the machine
    count_crowd<kgate::fifo>(got, 3000);
  EXPECT_EQ(got.most_overtaken, 0U);
  EXPECT_GT(got.most_admitted_meanwhile, 0U);
  EXPECT_LE(got.most_admitted_meanwhile, crowd + crowd_permits);
}
// Of b = 64, 48 are released for barging while one is queued, and two may be bargeable when it comes; two that are
// inside and have not said so yet may be counted too.
TEST(semaphore_waiting, is_overtaken_b_times_at_most) {
  kgate::statistics got;
  count_crowd<kgate::bounded_overtaking<64>>(got, 10000);
  EXPECT_GT(got.overtakings, 64U);
  EXPECT_LE(got.most_overtaken, 64U);
  EXPECT_LE(got.most_admitted_meanwhile, 64U + crowd);
}
// The count can exceed 64: otherwise the test above would show nothing.
TEST(semaphore_waiting, is_overtaken_more_often_with_a_larger_b) {
  kgate::statistics got;
  for (int tries = 0; tries < 10 && got.most_overtaken <= 64; ++tries)  // whether threads sleep is up to the machine
    count_crowd<kgate::bounded_overtaking<>>(got, 10000);
  EXPECT_GT(got.most_overtaken, 64U);
  EXPECT_LE(got.most_overtaken, std::uint64_t{kgate::bounded_overtaking<>::overtakings_max});
}
// What keeps others from being slowed down: barging, yielding and backing off are tried again and again only while they
// pay.
TEST(semaphore_adaptive_switch, stays_on_while_it_pays_and_is_tried_seldom_after) {
  using kgate::detail::adaptive_switch;
  adaptive_switch tried;
  const auto times_in = [&](std::uint64_t epochs) {
    std::uint64_t count = 0;
    for (std::uint64_t i = 1; i <= epochs; ++i) count += tried.should_try(i) ? 1 : 0;
    return count;
  };
  for (std::uint64_t i = 0; i < 3; ++i) tried.learn(i, false);
  EXPECT_EQ(times_in(1024), 1024U) << "a few failures change nothing";
  for (int i = 0; i < 100; ++i) tried.learn(3, false);
  EXPECT_EQ(times_in(1024), 512U) << "many in one epoch count once";
  for (std::uint64_t i = 4; i < 100; ++i) tried.learn(i, false);
  EXPECT_EQ(times_in(1024), 1U);
  tried.learn(100, true);
  EXPECT_EQ(times_in(1024), 1024U) << "one success is enough";
  const auto doubtful = adaptive_switch::start::doubtful;
  EXPECT_TRUE(adaptive_switch().should_try(8, doubtful));
  EXPECT_FALSE(adaptive_switch().should_try(4, doubtful));
}

TEST(semaphore_waiting, is_counted_if_requested) {
  kgate::basic_semaphore<kgate::fifo, kgate::adaptive, kgate::statistics> s(1);
  s.acquire();
  EXPECT_FALSE(s.try_acquire_for(2ms));
  EXPECT_EQ(s.counts().grants, 1U);
  EXPECT_EQ(s.counts().given_up, 1U);
  EXPECT_GE(s.counts().waits, 1U);
  s.release();
}

}  // namespace
