// SPDX-License-Identifier: Apache-2.0
// Everything at once, at random, on one semaphore and on slots and pools: weights, limits, stops, coroutines, events,
// resizes. None is inside beyond what there ever was, and in the end all permits are there.
#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <deque>
#include <random>
#include <stop_token>
#include <thread>
#include <vector>

#include "coroutines.hpp"
#include "kgate/acquire_event.hpp"
#include "kgate/async.hpp"

namespace kgate {
namespace {

using namespace std::chrono_literals;
using std::chrono::microseconds;
using test::detached;

constexpr std::ptrdiff_t most = 8;
constexpr auto length = 3s;

template <class Semaphore>
class hostile_crowd {
 public:
  void run() {
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < 6; ++i) threads.emplace_back([this, i] { work(i); });
    std::this_thread::sleep_for(length);
    over_ = true;
    threads.clear();
    s_.resize(most);
    while (suspended_ > 0) std::this_thread::sleep_for(1ms);
    EXPECT_GT(passages_, 0);
    EXPECT_EQ(inside_, 0);
    EXPECT_EQ(s_.waiters(), 0);
    EXPECT_EQ(s_.available(), most);
  }

 private:
  void pass(std::ptrdiff_t w) {
    go_in(w);
    std::this_thread::yield();
    go_out(w);
  }
  void go_in(std::ptrdiff_t w) {
    EXPECT_LE(inside_.fetch_add(w) + w, most);
    ++passages_;
  }
  void go_out(std::ptrdiff_t w) {
    inside_.fetch_sub(w);
    s_.release(w);
  }

  void work(unsigned seed) {
    std::mt19937 random(seed);
    while (!over_) {
      const std::ptrdiff_t w = 1 + static_cast<std::ptrdiff_t>(random() % 3);
      const unsigned how = static_cast<unsigned>(random() % 10);
      if (how < 6) {
        if (blocking(how, w, microseconds(random() % 300))) pass(w);
      } else if (how == 6) {
        suspend(w, random() % 4, random() % 2 == 0);
      } else if (how == 7) {
        by_event(w, microseconds(random() % 200), random() % 3);
      } else if (how == 8) {
        s_.resize(3 + static_cast<std::ptrdiff_t>(random() % 6));
      } else {
        EXPECT_GE(s_.holders(), 0);
        EXPECT_LE(s_.available(), most);
      }
    }
  }
  bool blocking(unsigned how, std::ptrdiff_t w, microseconds soon) {
    using clock = std::chrono::steady_clock;
    std::stop_source stop;
    std::jthread stopper;
    if (how >= 4)
      stopper = std::jthread([stop, soon]() mutable {
        std::this_thread::sleep_for(soon);
        stop.request_stop();
      });
    switch (how) {
      case 0:
        s_.acquire(w);
        return true;
      case 1:
        return s_.try_acquire(w) || s_.try_acquire_until(clock::time_point::min(), w);
      case 2:
        return s_.try_acquire_for(soon, w);
      case 3:
        return s_.try_acquire_until(std::chrono::system_clock::now() + soon, w);
      case 4:
        return s_.acquire(stop.get_token(), w);
      default:
        return s_.try_acquire_for(stop.get_token(), std::chrono::hours::max(), w);
    }
  }
  void suspend(std::ptrdiff_t w, std::size_t how, bool stops) {
    std::stop_source stop;
    wait_suspended(w, how, stop.get_token());
    if (stops) stop.request_stop();
  }
  detached wait_suspended(std::ptrdiff_t w, std::size_t how, std::stop_token stop) {
    ++suspended_;
    bool inside = true;
    if (how == 0)
      co_await s_.async_acquire(w);
    else if (how == 1)
      inside = co_await s_.async_acquire(w, stop);
    else if (how == 2)
      inside = co_await s_.async_acquire(w, stop, 200us, inline_executor{});
    else
      inside = co_await s_.async_acquire(w, std::chrono::steady_clock::now() + 100us, inline_executor{});
    if (inside) pass(w);
    --suspended_;
  }
  void by_event(std::ptrdiff_t w, microseconds limit, std::size_t how) {
    basic_acquire_event event(s_, limit, w);
    if (how == 0) event.cancel();
    if (how == 1) {
      pollfd readable{event.descriptor(), POLLIN, 0};
      EXPECT_EQ(::poll(&readable, 1, 10'000), 1);
    }
    if (!event.ended()) return;
    auto permits = event.take();
    if (!permits) return;
    go_in(w);
    inside_.fetch_sub(w);
    if (w > 1) permits.split(1).reset();
  }

  Semaphore s_{most};
  std::atomic<std::ptrdiff_t> inside_{0};
  std::atomic<long> passages_{0};
  std::atomic<int> suspended_{0};
  std::atomic<bool> over_{false};
};

// k is 3 and more, and none asks for more than 3: so none is refused.
TEST(HostileDeep, Fifo) { hostile_crowd<semaphore>().run(); }
TEST(HostileDeep, BoundedOvertaking) { hostile_crowd<basic_semaphore<bounded_overtaking<4>>>().run(); }
TEST(HostileDeep, Counted) { hostile_crowd<basic_semaphore<fifo, spin_park, statistics>>().run(); }

struct lent_object {
  lent_object() = default;
  lent_object(const lent_object&) = delete;
  lent_object& operator=(const lent_object&) = delete;
  ~lent_object() { EXPECT_EQ(users, 0); }
  void use() {
    EXPECT_EQ(users.fetch_add(1), 0);
    std::this_thread::yield();
    users.fetch_sub(1);
  }
  std::atomic<int> users{0};
};

/// Slots and a pool that are resized while they are used; up to eight names are in the word of the permits, more are
/// not.
void share(std::ptrdiff_t capacity) {
  slots numbers(1, capacity);
  std::deque<std::atomic<int>> users(static_cast<std::size_t>(capacity));
  pool<lent_object> objects(
      1, [](std::ptrdiff_t) { return lent_object(); }, capacity);
  std::atomic<bool> over{false};
  const auto work = [&](unsigned seed) {
    std::mt19937 random(seed);
    while (!over) {
      const auto k = 1 + static_cast<std::ptrdiff_t>(random() % static_cast<unsigned>(capacity));
      if (random() % 8 == 0) numbers.resize(k), objects.resize(k);
      if (slot mine(numbers, microseconds(random() % 100)); mine) {
        slot moved(std::move(mine));
        EXPECT_EQ(users[static_cast<std::size_t>(moved.number())].fetch_add(1), 0);
        std::this_thread::yield();
        users[static_cast<std::size_t>(moved.number())].fetch_sub(1);
      }
      auto lent = objects.borrow();
      lent->use();
      if (random() % 4 == 0) lent.discard();
      auto moved = std::move(lent);
      lent.discard();
      if (moved) moved->use();
    }
  };
  std::vector<std::jthread> threads;
  for (unsigned i = 0; i < 6; ++i) threads.emplace_back(work, i);
  std::this_thread::sleep_for(length / 4);
  over = true;
  threads.clear();
  EXPECT_EQ(numbers.available(), numbers.size());
  EXPECT_EQ(objects.available(), objects.size());
}
TEST(HostileDeep, SlotsAndPools) {
  for (const std::ptrdiff_t capacity : {1, 8, 9, 100}) share(capacity);
}

}  // namespace
}  // namespace kgate
