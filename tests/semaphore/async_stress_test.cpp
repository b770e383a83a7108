// SPDX-License-Identifier: Apache-2.0
// Coroutines, threads, stops, deadlines and resizes beside each other, with delays put in at random steps.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <latch>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "coroutines.hpp"
#include "delays.hpp"
#include "kgate/async.hpp"

namespace kgate {
namespace {

using namespace std::chrono_literals;
using test::detached;
using test::thread_pool;

/// What a crowd of coroutines and threads did on one semaphore of k permits.
template <class Semaphore>
class crowd {
 public:
  explicit crowd(std::ptrdiff_t k) : s_(k), k_(k) {}

  void run(int coroutines, int rounds) {
    thread_pool pool(2);
    std::latch ended(coroutines);
    for (int i = 0; i < coroutines; ++i) work(pool, i, rounds, ended);
    std::vector<std::jthread> threads;
    for (int i = 0; i < 2; ++i) threads.emplace_back([&] { acquire_in_thread(rounds); });
    std::jthread stopper([&](std::stop_token end) {
      for (std::size_t i = 0; !end.stop_requested(); ++i) {
        stop_source(i % stops).request_stop();
        const std::lock_guard locked(mutex_);
        stops_[i % stops] = std::stop_source();
      }
    });
    ended.wait();
  }
  std::ptrdiff_t available() { return s_.available(); }
  long acquired() const { return acquired_; }
  long given_up() const { return given_up_; }

 private:
  static constexpr std::size_t stops = 4;
  std::stop_source stop_source(std::size_t i) {
    const std::lock_guard locked(mutex_);
    return stops_[i];
  }
  void go_in() {
    EXPECT_LT(inside_.fetch_add(1), k_);
    acquired_.fetch_add(1, std::memory_order_relaxed);
  }
  void go_out() {
    inside_.fetch_sub(1);
    s_.release();
  }
  detached work(thread_pool& pool, int me, int rounds, std::latch& ended) {
    for (int i = 0; i < rounds; ++i) {
      bool inside = true;
      const int how = (me + i) % 4;
      const std::stop_token stop = stop_source(static_cast<std::size_t>(me) % stops).get_token();
      if (how == 0)
        co_await s_.async_acquire(pool.executor());
      else if (how == 1)
        inside = co_await s_.async_acquire(stop, pool.executor());
      else if (how == 2)
        inside = co_await s_.async_acquire(std::chrono::microseconds(me % 7 * 20), pool.executor());
      else
        inside = co_await s_.async_acquire(stop, std::chrono::microseconds(50), pool.executor());
      if (inside) {
        go_in();
        co_await pool.yield();
        go_out();
      } else {
        given_up_.fetch_add(1, std::memory_order_relaxed);
      }
    }
    ended.count_down();
  }
  void acquire_in_thread(int rounds) {
    for (int i = 0; i < rounds; ++i)
      if (s_.try_acquire_for(std::chrono::microseconds(i % 3 * 100))) go_in(), go_out();
  }

  Semaphore s_;
  std::ptrdiff_t k_;
  std::mutex mutex_;
  std::stop_source stops_[stops];
  std::atomic<std::ptrdiff_t> inside_{0};
  std::atomic<long> acquired_{0}, given_up_{0};
};

template <class Semaphore>
void crowded(std::ptrdiff_t k, int rounds) {
  crowd<Semaphore> all(k);
  all.run(40, rounds);
  EXPECT_EQ(all.available(), k);
  EXPECT_GT(all.acquired(), 0);
  EXPECT_GT(all.given_up(), 0);
}
TEST(AsyncStress, EveryWaitEndsOnce) { crowded<semaphore>(2, 1000); }
TEST(AsyncStress, EveryWaitEndsOnceWithDelays) { crowded<basic_semaphore<fifo, stress::delayed>>(2, 15); }
TEST(AsyncStress, EveryWaitEndsOnceWithBarging) {
  crowded<basic_semaphore<bounded_overtaking<>, stress::delayed>>(2, 15);
}

TEST(AsyncStress, ASemaphoreIsDestroyedRightAfterItsLastAcquire) {
  using delayed_semaphore = basic_semaphore<fifo, stress::delayed>;
  thread_pool pool(1);
  for (int i = 0; i < 2000; ++i) {
    auto s = std::make_unique<delayed_semaphore>(1);
    std::latch ended(1);
    std::stop_source stop;
    s->acquire();
    [](std::unique_ptr<delayed_semaphore>& owner, thread_pool& on, std::latch& end, std::stop_token token) -> detached {
      static_cast<void>(co_await owner->async_acquire(std::move(token), on.executor()));
      if (owner->waiters() == 0) end.count_down();
    }(s, pool, ended, stop.get_token());
    delayed_semaphore* const raw = s.get();
    std::jthread releaser([raw] { raw->release(); });
    ended.wait();
    if (i % 2 == 0) s.reset();  // the release may still be on its way
  }
}

TEST(AsyncStress, ClosingMeetsCoroutinesThatCome) {
  for (int i = 0; i < 300; ++i) {
    basic_semaphore<fifo, stress::delayed> s(1);
    thread_pool pool(2);
    constexpr int coroutines = 8;
    std::latch ended(coroutines);
    const auto work = [&]() -> detached {
      if (co_await s.async_acquire(std::stop_token{}, pool.executor())) s.release();
      ended.count_down();
    };
    std::jthread closer([&] { s.close(); });
    for (int j = 0; j < coroutines; ++j) work();
    ended.wait();
  }
}

}  // namespace
}  // namespace kgate
