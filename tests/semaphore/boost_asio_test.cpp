// SPDX-License-Identifier: Apache-2.0
// Asynchronous acquire with Boost.Asio; asio_test.cpp has the details.
#include <gtest/gtest.h>

#include <boost/asio/version.hpp>
#if BOOST_ASIO_VERSION >= 101900
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#endif
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <future>
#include <mutex>
#include <string>

#include "kgate/asio/boost.hpp"

namespace kgate {
namespace {

namespace asio = boost::asio;
using with_boost_asio::async_acquire;

TEST(BoostAsio, CallsBackInOrder) {
  asio::io_context context;
  semaphore s(1);
  std::string order;
  async_acquire(s, context.get_executor(), [&](boost::system::error_code e) { order += e ? '-' : 'A'; });
  async_acquire(s, context.get_executor(), [&](boost::system::error_code e) { order += e ? '-' : 'B'; });
  async_acquire(s, context.get_executor(), 2,
                [&](boost::system::error_code e) { order += e == asio::error::invalid_argument ? 'c' : '?'; });
  s.release();
  context.run();
  EXPECT_EQ(order, "AcB");
  s.release();
}
TEST(BoostAsio, GivesAFuture) {
  asio::thread_pool pool(1);
  semaphore s(1);
  s.acquire();
  std::future<void> turn = async_acquire(s, pool.get_executor(), asio::use_future);
  s.release();
  turn.get();
  s.release();
}
TEST(BoostAsio, ObjectsHandPermitsBack) {
  asio::io_context context;
  semaphore s(3);
  slots some(2);
  pool<int> numbers(1);
  int got = 0, refused = 0;
  with_boost_asio::async_permit(s, context.get_executor(), 2, [&](boost::system::error_code e, permit its) {
    got += !e && its.count() == 2 ? 1 : 0;
  });
  with_boost_asio::async_slot(some, context.get_executor(),
                              [&](boost::system::error_code e, slot its) { got += !e && its.number() == 0 ? 1 : 0; });
  const auto lent = [&](const std::exception_ptr& failure, const pool<int>::lease& its) {
    (failure && !its ? refused : got) += 1;
  };
  with_boost_asio::async_borrow(numbers, context.get_executor(), lent);
  context.run();
  EXPECT_EQ(got, 3);
  EXPECT_EQ(s.available(), 3);
  EXPECT_EQ(some.available(), 2);
  EXPECT_EQ(numbers.available(), 1);
  numbers.close();
  with_boost_asio::async_borrow(numbers, context.get_executor(), lent);
  context.restart();
  context.run();
  EXPECT_EQ(refused, 1);
}
#if BOOST_ASIO_VERSION >= 101900
TEST(BoostAsio, OneOperationIsCancelledAlone) {
  asio::io_context context;
  semaphore s(1);
  s.acquire();
  asio::cancellation_signal signal, late;
  std::string order;
  async_acquire(s, context.get_executor(),
                asio::bind_cancellation_slot(signal.slot(), [&](boost::system::error_code e) {
                  order += e == asio::error::operation_aborted ? 'a' : '?';
                }));
  async_acquire(s, context.get_executor(), asio::bind_cancellation_slot(late.slot(), [&](boost::system::error_code e) {
                  order += e ? '?' : 'B';
                }));
  EXPECT_EQ(s.waiters(), 2);
  signal.emit(asio::cancellation_type::terminal);
  EXPECT_EQ(s.waiters(), 1);
  s.release();
  context.run();
  EXPECT_EQ(order, "aB");
  late.emit(asio::cancellation_type::terminal);  // none hears it
  s.release();
}
#endif
#if defined(BOOST_ASIO_HAS_CO_AWAIT)
TEST(BoostAsio, IsAwaited) {
  asio::io_context context;
  semaphore s(2);
  int done = 0;
  const auto work = [&]() -> asio::awaitable<void> {
    co_await async_acquire(s, context.get_executor(), asio::use_awaitable);
    const permit mine(s, std::adopt_lock);
    ++done;
  };
  for (int i = 0; i < 10; ++i) asio::co_spawn(context, work(), asio::detached);
  context.run();
  EXPECT_EQ(done, 10);
  EXPECT_EQ(s.available(), 2);
}
#endif

}  // namespace
}  // namespace kgate
