// SPDX-License-Identifier: Apache-2.0
// Coroutines in the queue of a gate, bare and with Asio.
#include "kgate/async_gate.hpp"

#include <gtest/gtest.h>

#include <asio.hpp>
#include <asio/experimental/awaitable_operators.hpp>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "gate/faults/scratch.hpp"
#include "kgate/asio/standalone_gate.hpp"
#include "semaphore/coroutines.hpp"
#include "semaphore/slow_executor.hpp"

namespace kgate {
namespace {

using namespace std::chrono_literals;
using faults::expect_whole;
using faults::scratch;
using test::detached;
using test::thread_pool;

void until(const std::atomic<int>& count, int reached) {
  while (count.load() < reached) std::this_thread::yield();
}

TEST(async_gate, coroutines_enter_one_after_the_other) {
  const scratch where;
  gate g = where.open("g", 1);
  std::atomic<int> done{0}, inside{0};
  {
    thread_pool threads(2);
    const auto work = [&]() -> detached {
      {
        gate::permit permit = co_await g.async_enter(threads.executor());
        EXPECT_EQ(inside.fetch_add(1), 0);
        EXPECT_EQ(permit.slot(), 0);
        co_await threads.yield();
        inside.fetch_sub(1);
      }
      done.fetch_add(1);
    };
    for (int i = 0; i < 200; ++i) work();
    until(done, 200);
  }
  expect_whole(where, "g", 1);
}

TEST(async_gate, a_stop_and_a_deadline_end_the_wait) {
  const scratch where;
  gate g = where.open("g", 1);
  std::atomic<int> gave_up{0}, entered{0};
  std::stop_source source, requested;
  requested.request_stop();
  {
    thread_pool threads(1);
    const auto work = [&](std::stop_token stop, std::chrono::milliseconds limit) -> detached {
      std::optional<gate::permit> permit = co_await g.async_enter(stop, limit, threads.executor());
      (permit ? entered : gave_up).fetch_add(1);
    };
    {
      const gate::permit holder = g.enter();
      work(source.get_token(), 1h);
      work({}, 5ms);
      work(requested.get_token(), 1h);
      until(gave_up, 2);
      source.request_stop();
      until(gave_up, 3);
      EXPECT_TRUE(g.status().waiters.empty());
    }
    work(requested.get_token(), 1h);  // what is free is taken all the same
    until(entered, 1);
  }
  expect_whole(where, "g", 1);
}

TEST(async_gate, errors_are_thrown_where_it_is_awaited) {
  const scratch where;
  gate g = where.open("g", 1);
  std::atomic<int> removed{0}, heavy{0};
  thread_pool threads(1);
  const auto work = [&](std::ptrdiff_t weight, std::atomic<int>& count, gate_errc expected) -> detached {
    try {
      static_cast<void>(co_await g.async_enter(weight, threads.executor()));
    } catch (const gate_error& error) {
      count = error.code() == expected ? 1 : -1;
    }
  };
  const gate::permit holder = g.enter();
  work(2, heavy, gate_errc::bad_slots);
  EXPECT_EQ(heavy, 1);
  for (const std::ptrdiff_t weight :
       {std::ptrdiff_t{0x1'0000'0001}, std::ptrdiff_t{-0xffff'ffffL}, std::ptrdiff_t{0}}) {
    heavy = 0;
    work(weight, heavy, gate_errc::bad_slots);
    EXPECT_EQ(heavy, 1) << weight;
  }
  work(1, removed, gate_errc::removed);
  g.remove(true);
  until(removed, 1);
}

TEST(async_gate, a_coroutine_may_be_destroyed_in_the_queue) {
  const scratch where;
  gate g = where.open("g", 1);
  thread_pool threads(1);
  const auto work = [&]() -> detached { static_cast<void>(co_await g.async_enter(threads.executor())); };
  {
    const gate::permit holder = g.enter();
    const detached waiting = work();
    EXPECT_EQ(g.status().waiters.size(), 1U);
    waiting.frame.destroy();
    EXPECT_TRUE(g.status().waiters.empty());
  }
  expect_whole(where, "g", 1);
}

TEST(async_gate, stress_with_stops) {
  const scratch where;
  gate g = where.open("g", 2);
  std::atomic<int> done{0}, inside{0};
  constexpr int count = 3000;
  {
    thread_pool threads(2);
    const auto work = [&](int i) -> detached {
      std::stop_source source;
      std::jthread stopper;
      if (i % 16 == 0) stopper = std::jthread([source]() mutable { source.request_stop(); });
      if (std::optional<gate::permit> permit = co_await g.async_enter(
              source.get_token(), std::chrono::microseconds(i % 5 * 400 + 1), threads.executor())) {
        EXPECT_LE(inside.fetch_add(1) + 1, 2);
        co_await threads.yield();
        inside.fetch_sub(1);
      }
      done.fetch_add(1);
    };
    for (int i = 0; i < count; ++i) work(i);
    until(done, count);
  }
  expect_whole(where, "g", 2);
}

TEST(async_gate, with_asio) {
  const scratch where;
  gate g = where.open("g", 1);
  asio::io_context context;
  std::optional<gate::permit> holder = g.enter();
  std::string order;
  const auto work = [&](char name) -> asio::awaitable<void> {
    std::optional<gate::permit> inside =
        co_await with_asio::async_enter(g, context.get_executor(), asio::use_awaitable);
    order += inside ? name : '?';
    asio::steady_timer timer(context, 1ms);
    co_await timer.async_wait(asio::use_awaitable);
  };
  for (const char name : {'A', 'B', 'C'}) asio::co_spawn(context, work(name), asio::detached);
  asio::cancellation_signal signal;
  with_asio::async_enter(g, context.get_executor(), 1,
                         asio::bind_cancellation_slot(signal.slot(), [&](const std::exception_ptr& failure,
                                                                         const std::optional<gate::permit>& inside) {
                           order += failure && !inside ? 'x' : '?';
                         }));
  with_asio::async_enter(
      g, context.get_executor(), 2,
      [&](const std::exception_ptr& failure, const std::optional<gate::permit>&) { order += failure ? 'h' : '?'; });
  asio::steady_timer later(context, 5ms);
  later.async_wait([&](asio::error_code) {
    signal.emit(asio::cancellation_type::terminal);
    holder.reset();
  });
  context.run();
  EXPECT_EQ(order.size(), 5U);
  EXPECT_LT(order.find('A'), order.find('B'));
  EXPECT_LT(order.find('B'), order.find('C'));
  EXPECT_NE(order.find('x'), std::string::npos);
  EXPECT_NE(order.find('h'), std::string::npos);
  expect_whole(where, "g", 1);
}

TEST(async_gate, nothing_is_lost_to_timers) {
  using namespace asio::experimental::awaitable_operators;
  const scratch where;
  gate g = where.open("g", 4);
  asio::thread_pool threads(2);
  std::atomic<int> inside{0};
  const auto work = [&](auto executor, int seed) -> asio::awaitable<void> {
    for (int i = 0; i < 50; ++i) {
      asio::steady_timer limit(executor, 1ms);
      auto got =
          co_await (with_asio::async_enter(g, executor, asio::use_awaitable) || limit.async_wait(asio::use_awaitable));
      if (got.index() != 0) continue;
      const std::optional<gate::permit> held = std::get<0>(std::move(got));
      EXPECT_LE(inside.fetch_add(1) + 1, 4);
      asio::steady_timer hold(executor, std::chrono::microseconds(100 + (seed * 37 + i * 91) % 900));
      co_await hold.async_wait(asio::use_awaitable);
      inside.fetch_sub(1);
    }
  };
  for (int i = 0; i < 10; ++i) {
    const auto strand = asio::make_strand(threads.get_executor());
    asio::co_spawn(strand, work(strand, i), asio::detached);
  }
  threads.join();
  expect_whole(where, "g", 4);
}

TEST(async_gate, coroutines_go_on_where_executors_of_asio_say) {
  const scratch where;
  gate g = where.open("g", 1);
  std::optional<gate::permit> holder = g.enter();
  asio::thread_pool threads(2);
  asio::io_context context;
  std::atomic<int> done{0};
  const auto work = [&](auto executor) -> detached {
    { const gate::permit inside = co_await g.async_enter(executor); }
    ++done;
  };
  work(threads.get_executor());
  work(asio::any_io_executor(threads.get_executor()));
  work(asio::make_strand(threads));
  work(asio::make_strand(asio::any_io_executor(threads.get_executor())));
  work(context.get_executor());
  work(asio::system_executor());
  holder.reset();
  while (done < 6) {
    context.restart();
    context.run_for(1ms);
  }
  threads.join();
  expect_whole(where, "g", 1);
}

TEST(async_gate, who_resumes_has_work_outstanding_until_it_is_done) {
  using slow_context = test::slow_context<asio::execution_context>;
  const scratch where;
  gate g = where.open("g", 1);
  for (const bool waits : {false, true}) {
    slow_context slow;
    std::optional<gate::permit> holder;
    if (waits) holder = g.enter();
    std::atomic<int> done{0};
    with_asio::async_enter(g, slow.get_executor(),
                           [&](const std::exception_ptr&, const std::optional<gate::permit>&) { ++done; });
    holder.reset();
    until(done, 1);
    EXPECT_EQ(slow.unsafe_returns(1), 0) << "a handler";
  }
  slow_context slow;
  std::atomic<int> done{0};
  const auto work = [&]() -> detached {
    { const gate::permit inside = co_await g.async_enter(slow.get_executor()); }
    ++done;
  };
  {
    const gate::permit holder = g.enter();
    work();
  }
  until(done, 1);
  EXPECT_EQ(slow.unsafe_returns(1), 0) << "a coroutine";
}

// For ThreadSanitizer: the context goes as soon as it can, while a thread of the library may still be posting to it.
TEST(async_gate, a_context_may_end_when_it_is_joined) {
  const scratch where;
  gate g = where.open("g", 1);
  for (int i = 0; i < 300; ++i) {
    gate::permit holder = g.enter();
    auto threads = std::make_unique<asio::thread_pool>(2);
    std::atomic<int> done{0};
    const auto work = [&](auto executor) -> detached {
      const auto unfinished = asio::prefer(executor, asio::execution::outstanding_work.tracked);
      { const gate::permit inside = co_await g.async_enter(executor); }
      ++done;
    };
    if (i % 3 == 0)
      with_asio::async_enter(g, threads->get_executor(),
                             [&](const std::exception_ptr&, std::optional<gate::permit> inside) {
                               inside.reset();
                               ++done;
                             });
    if (i % 3 == 1) work(threads->get_executor());
    if (i % 3 == 2) work(asio::any_io_executor(threads->get_executor()));
    holder.release();
    threads->join();
    threads.reset();
    EXPECT_EQ(done, 1);
  }
  expect_whole(where, "g", 1);
}

}  // namespace
}  // namespace kgate
