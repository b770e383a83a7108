// SPDX-License-Identifier: Apache-2.0
// No thread that parks misses a wake-up: pairs of threads hand a number back and forth, each hand-over by a wait that
// goes to the kernel at once or after a few spins. A lost wake-up is a hang, which the watchdog turns into a failure.

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

#include "kgate/detail/fixed_array.hpp"
#include "kgate/detail/machines/native.hpp"

namespace {

using kgate::pid;

/// Ends the program if it is still alive after the time: a hung thread cannot be joined.
class watchdog {
 public:
  explicit watchdog(std::chrono::seconds limit)
      : thread_([this, limit] {
          std::unique_lock lock(mutex_);
          if (!changed_.wait_for(lock, limit, [this] { return done_; })) {
            std::fputs("a waiter was never woken\n", stderr);
            std::_Exit(1);
          }
        }) {}
  ~watchdog() {
    {
      std::lock_guard lock(mutex_);
      done_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  std::thread thread_;
};

/// Goes to the kernel without spinning first.
struct park_at_once {
  static constexpr bool parks = true;
  static constexpr bool yields = true;
  static constexpr int spins = 0;
};
/// Spins about as long as the other side needs, so that parking and waking meet.
struct park_soon {
  static constexpr bool parks = true;
  static constexpr bool yields = true;
  static constexpr int spins = 20;
};

template <class Policy>
class parking : public testing::Test {};
using policies = testing::Types<park_at_once, park_soon, kgate::spin_park>;
TYPED_TEST_SUITE(parking, policies);

constexpr int rounds = 5000;

TYPED_TEST(parking, await_misses_no_write) {
  using machine = kgate::native<TypeParam>;
  watchdog guard(std::chrono::seconds(60));
  typename machine::Memory memory;
  typename machine::template Var<int> ball(memory, {}, 0);
  const auto player = [&](int side) {
    typename machine::Process p(pid(side));
    for (int i = 0; i < rounds; ++i) {
      ball.await(p, [&](int at) { return at == 2 * i + side; });
      ball.write(p, 2 * i + side + 1);
    }
  };
  std::thread other(player, 1);
  player(0);
  other.join();
  typename machine::Process p(pid(0));
  EXPECT_EQ(ball.read(p), 2 * rounds);
}

TYPED_TEST(parking, every_kind_of_write_wakes) {
  using machine = kgate::native<TypeParam>;
  watchdog guard(std::chrono::seconds(60));
  typename machine::Memory memory;
  typename machine::template Var<int> ball(memory, {}, 0), back(memory, {}, 0);
  std::thread waiter([&] {
    typename machine::Process p(pid(1));
    for (int i = 1; i <= rounds; ++i) {
      const int seen = ball.await_value(p, [&](int at) { return at >= i; });
      EXPECT_EQ(seen, i);
      back.write(p, i);
    }
  });
  typename machine::Process p(pid(0));
  for (int i = 1; i <= rounds; ++i) {
    switch (i % 5) {
      case 0:
        ball.write(p, i);
        break;
      case 1:
        ball.fetch_add(p, 1);
        break;
      case 2:
        ball.exchange(p, i);
        break;
      case 3:
        EXPECT_TRUE(ball.compare_and_swap(p, i - 1, i));
        break;
      case 4:
        ball.rmw(p, [](int old) { return old + 1; });
        break;
    }
    back.await(p, [&](int at) { return at == i; });
  }
  waiter.join();
}

TYPED_TEST(parking, await_any_misses_no_write_to_any_of_its_variables) {
  using machine = kgate::native<TypeParam>;
  constexpr std::size_t variables = 3;
  watchdog guard(std::chrono::seconds(60));
  typename machine::Memory memory;
  kgate::fixed_array<typename machine::template Var<int>> balls(
      variables, [&](std::size_t) { return typename machine::template Var<int>(memory, {}, 0); });
  typename machine::template Var<int> back(memory, {}, 0);
  std::thread waiter([&] {
    typename machine::Process p(pid(1));
    for (int i = 1; i <= rounds; ++i) {
      const std::size_t hit = machine::await_any(
          p, variables, [&](std::size_t v) -> auto& { return balls[v]; }, [&](std::size_t, int at) { return at == i; });
      EXPECT_EQ(hit, static_cast<std::size_t>(i) % variables);
      back.write(p, i);
    }
  });
  typename machine::Process p(pid(0));
  for (int i = 1; i <= rounds; ++i) {
    balls[static_cast<std::size_t>(i) % variables].write(p, i);
    back.await(p, [&](int at) { return at == i; });
  }
  waiter.join();
}

TYPED_TEST(parking, one_write_wakes_all_who_wait) {
  using machine = kgate::native<TypeParam>;
  constexpr int waiters = 4, gates = 500;
  watchdog guard(std::chrono::seconds(60));
  typename machine::Memory memory;
  typename machine::template Var<int> gate(memory, {}, 0), arrived(memory, {}, 0);
  std::vector<std::thread> threads;
  for (int t = 0; t < waiters; ++t)
    threads.emplace_back([&, t] {
      typename machine::Process p(pid(t));
      for (int i = 1; i <= gates; ++i) {
        gate.await(p, [&](int at) { return at == i; });
        arrived.fetch_add(p, 1);
      }
    });
  typename machine::Process p(pid(waiters));
  for (int i = 1; i <= gates; ++i) {
    gate.write(p, i);
    arrived.await(p, [&](int count) { return count == waiters * i; });
  }
  for (auto& thread : threads) thread.join();
}

}  // namespace
