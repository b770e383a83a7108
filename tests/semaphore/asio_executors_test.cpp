// SPDX-License-Identifier: Apache-2.0
// Coroutines go on where executors of Asio say, and contexts do not end under those that resume them. Compiled for
// standalone Asio, and for Boost.Asio with KGATE_TEST_BOOST.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#if defined(KGATE_TEST_BOOST)
#include <boost/asio.hpp>

#include "kgate/asio/boost.hpp"
namespace asio = boost::asio;
namespace with = kgate::with_boost_asio;
using asio_error = boost::system::error_code;
#else
#include <asio.hpp>

#include "kgate/asio/standalone.hpp"
namespace with = kgate::with_asio;
using asio_error = asio::error_code;
#endif
#include "coroutines.hpp"
#include "kgate/async.hpp"
#include "slow_executor.hpp"

namespace kgate {
namespace {

using namespace std::chrono_literals;
using slow_context = test::slow_context<asio::execution_context>;

TEST(AsioExecutors, EachIsWhereACoroutineGoesOn) {
  asio::io_context context;
  asio::thread_pool threads(2);
  semaphore s(1);
  s.acquire();
  std::atomic<int> begun{0}, done{0};
  const auto work = [&](auto executor) -> test::detached {
    static_assert(Executor<decltype(executor)>);
    ++begun;
    co_await s.async_acquire(executor);
    s.release();
    ++done;
  };
  work(context.get_executor());
  work(asio::any_io_executor(context.get_executor()));
  work(asio::make_strand(context));
  work(asio::make_strand(asio::any_io_executor(context.get_executor())));
  work(asio::require(context.get_executor(), asio::execution::blocking.never));
  work(asio::prefer(context.get_executor(), asio::execution::outstanding_work.tracked));
  work(threads.get_executor());
  work(asio::any_io_executor(threads.get_executor()));
  work(asio::make_strand(threads));
  work(asio::require(threads.get_executor(), asio::execution::blocking.never));
  work(asio::system_executor());
  work(asio::any_io_executor(asio::system_executor()));
  slow_context slow;
  work(slow.get_executor());
  const auto strand = asio::make_strand(asio::any_io_executor(context.get_executor()));
  ++begun;
  with::async_acquire(s, strand, [&](asio_error) {
    s.release();
    ++done;
  });
  EXPECT_EQ(s.waiters(), begun);
  s.release();
  while (done < begun) {
    context.restart();
    context.run_for(1ms);
  }
  threads.join();
  EXPECT_EQ(s.available(), 1);
}

TEST(AsioExecutors, AChainOfHandOversNeedsNoStack) {
  asio::io_context context;
  semaphore s(1);
  s.acquire();
  int done = 0;
  const auto work = [&](auto executor) -> test::detached {
    co_await s.async_acquire(executor);
    s.release();  // within the context, where an executor may run what it is given at once
    ++done;
  };
  const auto strand = asio::make_strand(context);
  for (int i = 0; i < 50'000; ++i) work(context.get_executor());
  for (int i = 0; i < 50'000; ++i) work(asio::any_io_executor(context.get_executor()));
  for (int i = 0; i < 50'000; ++i) work(strand);
  s.release();
  context.run();
  EXPECT_EQ(done, 150'000);
}

TEST(AsioExecutors, WhoResumesHasWorkOutstandingUntilItIsDone) {
  for (const bool waits : {false, true}) {
    slow_context slow;
    semaphore s(1);
    if (waits) s.acquire();
    std::atomic<int> done{0};
    with::async_acquire(s, slow.get_executor(), [&](asio_error) { ++done; });
    if (waits) s.release();
    EXPECT_EQ(slow.unsafe_returns(1), 0) << "a handler";
    EXPECT_EQ(done, 1);
  }
  slow_context slow;
  semaphore s(1);
  s.acquire();
  std::atomic<int> done{0};
  const auto work = [&]() -> test::detached {
    co_await s.async_acquire(slow.get_executor());
    ++done;
  };
  work();
  s.release();
  EXPECT_EQ(slow.unsafe_returns(1), 0) << "a coroutine";
  EXPECT_EQ(done, 1);
}

// For ThreadSanitizer: the context goes as soon as it can, while release() is in another thread.
TEST(AsioExecutors, AContextMayEndWhenItIsJoined) {
  for (int i = 0; i < 300; ++i) {
    auto threads = std::make_unique<asio::thread_pool>(2);
    semaphore s(1);
    s.acquire();
    std::atomic<int> done{0};
    const auto work = [&](auto executor) -> test::detached {
      const auto unfinished = asio::prefer(executor, asio::execution::outstanding_work.tracked);
      co_await s.async_acquire(executor);
      ++done;
      s.release();
    };
    if (i % 3 == 0) with::async_acquire(s, threads->get_executor(), [&](asio_error) { ++done; });
    if (i % 3 == 1) work(threads->get_executor());
    if (i % 3 == 2) work(asio::any_io_executor(threads->get_executor()));
    std::thread holder([&] { s.release(); });
    threads->join();
    threads.reset();
    holder.join();
    EXPECT_EQ(done, 1);
  }
}

}  // namespace
}  // namespace kgate
