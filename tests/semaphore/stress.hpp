// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Random time-outs, cancellations, weights and resizes by more threads than processors; at the end every permit must
/// be there.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <random>
#include <stop_token>
#include <thread>
#include <vector>

#include "kgate/semaphore.hpp"

namespace kgate::stress {

template <class Base>
class near_the_wrap : public Base {
 public:
  explicit near_the_wrap(std::ptrdiff_t k) : Base(k, (std::uint64_t{1} << 32) - 1000) {}
};

template <class S>
void run(std::chrono::milliseconds length, int threads, unsigned seed, std::uint64_t entered_min = 100) {
  constexpr std::ptrdiff_t k_most = 5;
  near_the_wrap<S> s(k_most);
  std::atomic<std::ptrdiff_t> inside{0};
  std::atomic<bool> too_many{false}, over{false};
  std::atomic<std::uint64_t> entered{0}, gave_up{0};
  std::vector<std::jthread> all;
  for (int i = 0; i < threads; ++i)
    all.emplace_back([&, i] {
      std::minstd_rand random(seed + static_cast<unsigned>(i));
      const auto below = [&random](unsigned n) { return static_cast<int>(random() % n); };
      while (!over.load(std::memory_order_relaxed)) {
        const int how = below(8);
        const std::ptrdiff_t w = how < 6 ? 1 : 2;
        bool got = true;
        if (how % 4 == 0) {
          got = s.try_acquire(w);
        } else if (how % 4 == 1) {
          got = s.try_acquire_for(std::chrono::microseconds(below(300)), w);
        } else if (how % 4 == 2) {
          std::stop_source stop;
          std::jthread stopper;
          if (below(4) == 0) stopper = std::jthread([&stop] { stop.request_stop(); });
          got = s.try_acquire_for(stop.get_token(), std::chrono::milliseconds(5), w);
        } else {
          s.acquire(w);
        }
        if (!got) {
          gave_up.fetch_add(1, std::memory_order_relaxed);
          continue;
        }
        if (inside.fetch_add(w) + w > k_most) too_many = true;
        if (below(16) == 0) std::this_thread::sleep_for(std::chrono::microseconds(below(200)));
        inside.fetch_sub(w);
        s.release(w);
        entered.fetch_add(1, std::memory_order_relaxed);
      }
    });
  std::minstd_rand random(seed);
  const auto end = std::chrono::steady_clock::now() + length;
  while (std::chrono::steady_clock::now() < end) {
    s.resize(2 + static_cast<std::ptrdiff_t>(random() % (k_most - 1)));
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 500));
  }
  over = true;
  all.clear();
  s.resize(k_most);
  EXPECT_FALSE(too_many);
  EXPECT_EQ(s.available(), k_most);
  EXPECT_EQ(s.waiters(), 0);
  EXPECT_GT(entered.load(), entered_min);
  EXPECT_GT(gave_up.load(), entered_min / 10);
}

}  // namespace kgate::stress
