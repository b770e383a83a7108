// SPDX-License-Identifier: Apache-2.0
// Asynchronous acquire with standalone Asio: every kind of token, cancellation, and releases in other threads.
#include <gtest/gtest.h>

#include <asio.hpp>
#include <asio/experimental/awaitable_operators.hpp>
#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "delays.hpp"
#include "kgate/asio/standalone.hpp"

namespace kgate {
namespace {

using namespace std::chrono_literals;
using with_asio::async_acquire;

TEST(Asio, CallsBackInOrderAndNeverWithinTheCall) {
  asio::io_context context;
  semaphore s(1);
  std::string order;
  async_acquire(s, context.get_executor(), [&](asio::error_code e) { order += e ? '-' : 'A'; });
  async_acquire(s, context.get_executor(), [&](asio::error_code e) { order += e ? '-' : 'B'; });
  EXPECT_EQ(order, "");
  context.run_for(5ms);
  EXPECT_EQ(order, "A");
  s.release();
  EXPECT_EQ(order, "A") << "not in release";
  context.restart();
  context.run();  // ends: nothing is outstanding
  EXPECT_EQ(order, "AB");
  s.release();
}

TEST(Asio, TheContextRunsWhileSomebodyWaits) {
  asio::io_context context;
  semaphore s(1);
  s.acquire();
  bool called = false;
  async_acquire(s, context.get_executor(), 1, [&](asio::error_code) { called = true; });
  std::jthread other([&] {
    std::this_thread::sleep_for(20ms);
    s.release();
  });
  context.run();
  EXPECT_TRUE(called);
}

TEST(Asio, GivesAFuture) {
  asio::thread_pool pool(1);
  semaphore s(1);
  s.acquire();
  std::future<void> turn = async_acquire(s, pool.get_executor(), asio::use_future);
  EXPECT_EQ(turn.wait_for(5ms), std::future_status::timeout);
  s.release();
  turn.get();
  std::future<void> next = async_acquire(s, pool.get_executor(), asio::use_future);
  s.close();
  EXPECT_THROW(next.get(), std::system_error);
}

TEST(Asio, IsAwaited) {
  asio::io_context context;
  semaphore s(2);
  int inside = 0, most = 0, done = 0;
  const auto work = [&]() -> asio::awaitable<void> {
    co_await async_acquire(s, context.get_executor(), asio::use_awaitable);
    const permit mine(s, std::adopt_lock);
    most = std::max(most, ++inside);
    asio::steady_timer timer(context, 1ms);
    co_await timer.async_wait(asio::use_awaitable);
    --inside;
    ++done;
  };
  for (int i = 0; i < 10; ++i) asio::co_spawn(context, work(), asio::detached);
  context.run();
  EXPECT_EQ(done, 10);
  EXPECT_EQ(most, 2);
  EXPECT_EQ(s.available(), 2);
}

TEST(Asio, OneOperationIsCancelledAlone) {
  asio::io_context context;
  semaphore s(1);
  s.acquire();
  asio::cancellation_signal signal;
  std::string order;
  async_acquire(s, context.get_executor(), [&](asio::error_code) { order += 'A'; });
  async_acquire(s, context.get_executor(), asio::bind_cancellation_slot(signal.slot(), [&](asio::error_code e) {
                  order += e == asio::error::operation_aborted ? 'b' : '?';
                }));
  async_acquire(s, context.get_executor(), [&](asio::error_code) { order += 'C'; });
  signal.emit(asio::cancellation_type::terminal);
  EXPECT_EQ(s.waiters(), 2);
  context.poll();
  EXPECT_EQ(order, "b");
  s.release();
  s.release();
  context.run();
  EXPECT_EQ(order, "bAC");
  signal.emit(asio::cancellation_type::terminal);  // none hears it
  s.release();
}

TEST(Asio, ATimerEndsTheWait) {
  using namespace asio::experimental::awaitable_operators;
  asio::io_context context;
  semaphore s(1);
  s.acquire();
  std::optional<std::size_t> first;
  const auto wait = [&]() -> asio::awaitable<void> {
    asio::steady_timer timer(context, 5ms);
    const auto who = co_await (async_acquire(s, context.get_executor(), asio::use_awaitable) ||
                               timer.async_wait(asio::use_awaitable));
    first = who.index();
  };
  asio::co_spawn(context, wait(), asio::detached);
  context.run();
  EXPECT_EQ(first, 1U);
  EXPECT_EQ(s.waiters(), 0);
  s.release();
}

TEST(Asio, RefusalsAreErrors) {
  asio::io_context context;
  semaphore s(2);
  asio::error_code heavy, closed;
  async_acquire(s, context.get_executor(), 3, [&](asio::error_code e) { heavy = e; });
  s.acquire();
  async_acquire(s, context.get_executor(), 2, [&](asio::error_code e) { closed = e; });
  s.close();
  context.run();
  EXPECT_EQ(heavy, asio::error::invalid_argument);
  EXPECT_EQ(closed, asio::error::shut_down);
  s.release();
}

TEST(Asio, AContextMayEndWithACompletionInIt) {
  semaphore s(1);
  auto context = std::make_unique<asio::io_context>();
  auto kept = std::make_shared<int>(0);
  async_acquire(s, context->get_executor(), [kept](asio::error_code) {});
  EXPECT_EQ(kept.use_count(), 2);
  context.reset();
  EXPECT_EQ(kept.use_count(), 1);
}

TEST(Asio, GrantsFromOtherThreadsMeetCancellations) {
  using delayed_semaphore = basic_semaphore<fifo, stress::delayed>;
  delayed_semaphore s(1);
  asio::io_context context;
  std::atomic<bool> end{false};
  std::jthread other([&] {
    while (!end)
      if (s.try_acquire_for(100us)) s.release();
  });
  int rounds = 0, cancelled = 0;
  const auto work = [&]() -> asio::awaitable<void> {
    asio::steady_timer timer(context);
    for (; rounds < 1000; ++rounds) {
      asio::cancellation_signal signal;
      bool done = false, granted = false;
      async_acquire(s, context.get_executor(), asio::bind_cancellation_slot(signal.slot(), [&](asio::error_code e) {
                      done = true;
                      granted = !e;
                    }));
      signal.emit(asio::cancellation_type::total);
      while (!done) co_await asio::post(context, asio::use_awaitable);
      cancelled += granted ? 0 : 1;
      if (granted) s.release();
    }
  };
  asio::co_spawn(context, work(), asio::detached);
  context.run();
  end = true;
  other.join();
  EXPECT_EQ(s.available(), 1);
}

}  // namespace
}  // namespace kgate
