// SPDX-License-Identifier: Apache-2.0
// Results that are not taken: of operations that are cancelled after their grant, or lose in an `||`, or whose context
// ends. Compiled for standalone Asio, and for Boost's names with KGATE_TEST_BOOST_NAMES.
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

#if defined(KGATE_TEST_BOOST_NAMES)
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "kgate/asio/boost.hpp"
namespace asio = boost::asio;
namespace with = kgate::with_boost_asio;
using asio_error = boost::system::error_code;
using asio_exception = boost::system::system_error;
#else
#include <asio.hpp>
#include <asio/experimental/awaitable_operators.hpp>

#include "kgate/asio/standalone.hpp"
namespace with = kgate::with_asio;
using asio_error = asio::error_code;
using asio_exception = std::system_error;
#endif

namespace kgate {
namespace {

using namespace std::chrono_literals;
using asio::awaitable;
using asio::use_awaitable;

/// An operation each. kept() makes an object of what an `||` gives.
struct bare {
  semaphore from;
  explicit bare(int k) : from(k) {}
  template <class E, class Token>
  auto begin(const E& executor, Token&& token) {
    return with::async_acquire(from, executor, std::forward<Token>(token));
  }
  auto take() { return permit(from); }
  auto kept(std::monostate) { return permit(from, std::adopt_lock); }
};
struct permits {
  semaphore from;
  explicit permits(int k) : from(k) {}
  template <class E, class Token>
  auto begin(const E& executor, Token&& token) {
    return with::async_permit(from, executor, std::forward<Token>(token));
  }
  auto take() { return permit(from); }
  static permit kept(permit its) { return its; }
};
struct a_slot {
  slots from;
  explicit a_slot(int k) : from(k) {}
  template <class E, class Token>
  auto begin(const E& executor, Token&& token) {
    return with::async_slot(from, executor, std::forward<Token>(token));
  }
  auto take() { return slot(from); }
  static slot kept(slot its) { return its; }
};
struct a_lease {
  pool<std::string> from;
  explicit a_lease(int k) : from(k) {}
  template <class E, class Token>
  auto begin(const E& executor, Token&& token) {
    return with::async_borrow(from, executor, std::forward<Token>(token));
  }
  auto take() { return from.borrow(); }
  static auto kept(pool<std::string>::lease its) { return its; }
};

bool aborted(asio_error e) { return e == asio::error::operation_aborted; }
bool aborted(const std::exception_ptr& failure) {
  try {
    if (failure) std::rethrow_exception(failure);
  } catch (const asio_exception& e) {
    return e.code() == asio::error::operation_aborted;
  }
  return false;
}

template <class Kind>
class AsioDrops : public testing::Test {};
using kinds = testing::Types<bare, permits, a_slot, a_lease>;
TYPED_TEST_SUITE(AsioDrops, kinds);

TYPED_TEST(AsioDrops, ACancellationAfterTheGrantGivesItBack) {
  for (const bool waits : {false, true}) {
    asio::io_context context;
    TypeParam its(1);
    std::optional<decltype(its.take())> holder;
    if (waits) holder.emplace(its.take());
    asio::cancellation_signal signal;
    bool called = false, ended = false;
    its.begin(context.get_executor(), asio::bind_cancellation_slot(signal.slot(), [&](auto how, auto&&... nothing) {
                called = true;
                ended = aborted(how) && !(false || ... || static_cast<bool>(nothing));
              }));
    holder.reset();
    EXPECT_EQ(its.from.available(), 0) << "granted";
    signal.emit(asio::cancellation_type::terminal);
    EXPECT_FALSE(called);
    context.run();
    EXPECT_TRUE(called && ended) << waits;
    EXPECT_EQ(its.from.available(), 1) << waits;
  }
}

TYPED_TEST(AsioDrops, WhoComesSecondInAnOrGivesItBack) {
  for (const bool waits : {false, true}) {
    asio::io_context context;
    TypeParam its(1);
    semaphore other(1);
    std::optional<decltype(its.take())> holder;
    if (waits) holder.emplace(its.take());
    other.acquire();
    std::optional<std::size_t> first;
    const auto work = [&]() -> awaitable<void> {
      using namespace asio::experimental::awaitable_operators;
      const auto executor = co_await asio::this_coro::executor;
      const auto who =
          co_await (with::async_acquire(other, executor, use_awaitable) || its.begin(executor, use_awaitable));
      first = who.index();
    };
    if (!waits) other.release();
    asio::co_spawn(context, work(), asio::detached);
    if (waits) {
      context.poll();
      EXPECT_EQ(its.from.waiters(), 1);
      other.release();  // its handler is the first in the context's queue
      holder.reset();
    }
    context.run();
    EXPECT_EQ(first, 0U);
    EXPECT_EQ(its.from.available(), 1) << waits;
  }
}

/// Each waits for 1 ms again and again, of which it often has as much.
template <class Kind, class E>
awaitable<void> wait_often(Kind& its, E executor, int seed) {
  using namespace asio::experimental::awaitable_operators;
  for (int i = 0; i < 100; ++i) {
    asio::steady_timer limit(executor, 1ms);
    auto got = co_await (its.begin(executor, use_awaitable) || limit.async_wait(use_awaitable));
    if (got.index() != 0) continue;
    [[maybe_unused]] const auto held = its.kept(std::move(std::get<0>(got)));
    asio::steady_timer work(executor, std::chrono::microseconds(100 + (seed * 37 + i * 91) % 900));
    co_await work.async_wait(use_awaitable);
  }
}

TYPED_TEST(AsioDrops, NothingIsLostToTimers) {
  asio::io_context context;
  TypeParam its(4);
  for (int i = 0; i < 20; ++i) asio::co_spawn(context, wait_often(its, context.get_executor(), i), asio::detached);
  context.run();
  EXPECT_EQ(its.from.available(), 4);
  EXPECT_EQ(its.from.waiters(), 0);
}

TYPED_TEST(AsioDrops, NothingIsLostToTimersOnStrands) {
  TypeParam its(4);
  asio::thread_pool threads(2);
  for (int i = 0; i < 20; ++i) {
    const auto strand = asio::make_strand(threads.get_executor());
    asio::co_spawn(strand, wait_often(its, strand, i), asio::detached);
  }
  threads.join();
  EXPECT_EQ(its.from.available(), 4);
  EXPECT_EQ(its.from.waiters(), 0);
}

/// Those that hand over an object.
template <class Kind>
class AsioObjects : public testing::Test {};
using objects = testing::Types<permits, a_slot, a_lease>;
TYPED_TEST_SUITE(AsioObjects, objects);

TYPED_TEST(AsioObjects, OneThatAnOrDropsAfterItsHandlerGoesBack) {
  asio::io_context context;
  TypeParam its(1);
  semaphore other(1);
  other.acquire();
  std::optional<std::size_t> first;
  using object = decltype(its.take());
  const auto late = [&]() -> awaitable<object> {
    object held = co_await its.begin(context.get_executor(), use_awaitable);
    co_await asio::post(context.get_executor(), use_awaitable);
    EXPECT_TRUE(held);
    co_return held;
  };
  const auto work = [&]() -> awaitable<void> {
    using namespace asio::experimental::awaitable_operators;
    const auto who = co_await (late() || with::async_acquire(other, context.get_executor(), use_awaitable));
    first = who.index();
  };
  std::optional<object> holder(its.take());
  asio::co_spawn(context, work(), asio::detached);
  context.poll();
  holder.reset();
  other.release();
  context.run();
  EXPECT_EQ(first, 1U);
  EXPECT_EQ(its.from.available(), 1);
}

TYPED_TEST(AsioObjects, OneThatIsInAContextThatEndsGoesBack) {
  TypeParam its(1);
  auto context = std::make_unique<asio::io_context>();
  its.begin(context->get_executor(), [](auto&&...) { FAIL(); });
  EXPECT_EQ(its.from.available(), 0);
  context.reset();
  EXPECT_EQ(its.from.available(), 1);
}

TYPED_TEST(AsioObjects, TheHandlerGetsIt) {
  asio::io_context context;
  TypeParam its(1);
  bool got = false;
  its.begin(context.get_executor(), [&](auto failure, auto held) {
    got = !failure && held;
    EXPECT_EQ(its.from.available(), 0);
  });
  context.run();
  EXPECT_TRUE(got);
  EXPECT_EQ(its.from.available(), 1);
}

TYPED_TEST(AsioObjects, ARefusalIsAnError) {
  asio::io_context context;
  TypeParam its(1);
  const auto holder = its.take();
  int refused = 0;
  its.begin(context.get_executor(), [&](auto failure, auto held) { refused += failure && !held ? 1 : 0; });
  its.from.close();
  its.begin(context.get_executor(), [&](auto failure, auto held) { refused += failure && !held ? 1 : 0; });
  context.run();
  EXPECT_EQ(refused, 2);
}

TEST(AsioDrops, SeveralPermitsAreOneObject) {
  asio::io_context context;
  semaphore s(3);
  with::async_permit(s, context.get_executor(), 2, [&](asio_error, permit its) {
    EXPECT_EQ(its.count(), 2);
    EXPECT_EQ(s.available(), 1);
  });
  context.run();
  EXPECT_EQ(s.available(), 3);
}

TEST(AsioDrops, ASlotOfManyGoesBackWithItsNumber) {
  asio::io_context context;
  slots many(20);
  for (int i = 0; i < 40; ++i) {
    asio::cancellation_signal signal;
    with::async_slot(many, context.get_executor(),
                     asio::bind_cancellation_slot(signal.slot(), [&](asio_error, slot its) {
                       EXPECT_EQ(static_cast<bool>(its), i % 2 == 0);
                       EXPECT_TRUE(!its || its.number() == 0);
                     }));
    if (i % 2 != 0) signal.emit(asio::cancellation_type::terminal);
    context.restart();
    context.run();
  }
  EXPECT_EQ(many.available(), 20);
}

TEST(AsioDrops, WhatMakesAnObjectMayThrow) {
  asio::io_context context;
  int made = 0;
  pool<int> numbers(1, [&](std::ptrdiff_t) { return ++made == 1 ? throw std::runtime_error("not yet") : made; });
  for (int i = 0; i < 2; ++i) {
    with::async_borrow(numbers, context.get_executor(), [&](const std::exception_ptr& failure, pool<int>::lease its) {
      if (i == 0) {
        EXPECT_THROW(std::rethrow_exception(failure), std::runtime_error);
      } else {
        EXPECT_EQ(*its, 2);
      }
    });
    context.restart();
    context.run();
  }
  EXPECT_EQ(numbers.available(), 1);
}

}  // namespace
}  // namespace kgate
