// SPDX-License-Identifier: Apache-2.0
// Coroutines in the queue of a semaphore: order, the ends of a wait, where they go on, and how little they need.
#include "kgate/async.hpp"

#include <gtest/gtest.h>
#include <malloc.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <coroutine>
#include <cstdlib>
#include <exception>
#include <functional>
#include <latch>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "coroutines.hpp"

namespace kgate {
namespace {

using namespace std::chrono_literals;
using test::detached;
using test::thread_pool;

template <class Semaphore>
void until_waiting(const Semaphore& s, std::ptrdiff_t count) {
  while (s.waiters() < count) std::this_thread::yield();
}

template <class S, class... Options>
detached acquire_and_note(S& s, std::string& order, char name, Options... options) {
  if constexpr (std::is_void_v<decltype(s.async_acquire(options...).await_resume())>) {
    co_await s.async_acquire(options...);
    order += name;
  } else {
    order += co_await s.async_acquire(options...) ? name : static_cast<char>(name + 'a' - 'A');
  }
}

static_assert(sizeof(std::declval<semaphore&>().async_acquire()) <= 72);
static_assert(sizeof(std::declval<semaphore&>().async_acquire(std::stop_token{}, 1s, inline_executor{})) <= 160);

TEST(Async, TakesWhatIsFreeWithoutBeingSuspended) {
  semaphore s(3);
  std::string order;
  acquire_and_note(s, order, 'A');
  acquire_and_note(s, order, 'B', 2);
  EXPECT_EQ(order, "AB");
  EXPECT_EQ(s.available(), 0);
  s.release(3);
}

/// A coroutine whose exceptions go to the one that resumes it.
struct throwing {
  struct promise_type {
    throwing get_return_object() noexcept { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    void unhandled_exception() { throw; }
  };
};
throwing acquire_and_throw(semaphore& s) {
  co_await s.async_acquire();
  throw std::runtime_error("out of a coroutine");
}
TEST(Async, AnExceptionThatLeavesACoroutineResumedInlineEndsTheProgram) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  semaphore s(1);
  EXPECT_THROW(acquire_and_throw(s), std::runtime_error) << "not suspended: it goes to the caller";
  s.release();
  EXPECT_DEATH(
      {
        s.acquire();
        acquire_and_throw(s);
        try {
          s.release();
        } catch (...) {
          std::_Exit(0);
        }
      },
      "terminate called.*out of a coroutine");
}

TEST(Async, CoroutinesAndThreadsWaitInOneQueue) {
  semaphore s(1);
  s.acquire();
  std::string order;
  acquire_and_note(s, order, 'A');
  std::jthread thread([&] {
    s.acquire();
    order += 'T';
    s.release();
  });
  until_waiting(s, 2);
  acquire_and_note(s, order, 'B');
  EXPECT_EQ(s.waiters(), 3);
  EXPECT_EQ(order, "");
  s.release();  // to A, which keeps it
  EXPECT_EQ(order, "A");
  s.release();
  thread.join();  // hands on to B
  EXPECT_EQ(order, "ATB");
  s.release();
}

TEST(Async, ALargeRequestIsNotPassed) {
  semaphore s(3);
  s.acquire(3);
  std::string order;
  acquire_and_note(s, order, 'A', 2);
  acquire_and_note(s, order, 'B');
  s.release();
  EXPECT_EQ(order, "");
  s.release();
  EXPECT_EQ(order, "A");
  s.release();
  EXPECT_EQ(order, "AB");
  s.release(3);
}

TEST(Async, AStopEndsTheWait) {
  semaphore s(1);
  std::stop_source stop;
  std::string order;
  s.acquire();
  acquire_and_note(s, order, 'A');
  acquire_and_note(s, order, 'B', stop.get_token());
  acquire_and_note(s, order, 'C');
  stop.request_stop();
  EXPECT_EQ(order, "b");
  acquire_and_note(s, order, 'D', stop.get_token());
  EXPECT_EQ(order, "bd") << "already stopped";
  s.release();
  s.release();
  EXPECT_EQ(order, "bdAC");
  s.release();
  acquire_and_note(s, order, 'E', stop.get_token());
  EXPECT_EQ(order, "bdACE") << "a permit that is free is taken all the same";
  s.release();
  EXPECT_EQ(s.available(), 1);
}

TEST(Async, ADeadlineEndsTheWait) {
  semaphore s(1);
  thread_pool pool(1);
  std::latch ended(3);
  std::atomic<int> acquired{0};
  s.acquire();
  const auto wait = [&](auto limit) -> detached {
    if (co_await s.async_acquire(limit, pool.executor())) acquired.fetch_add(1);
    ended.count_down();
  };
  const auto before = std::chrono::steady_clock::now();
  wait(30ms);
  wait(before + 10ms);
  wait(std::chrono::steady_clock::time_point::min());
  ended.wait();
  EXPECT_GE(std::chrono::steady_clock::now() - before, 30ms);
  EXPECT_EQ(acquired, 0);
  EXPECT_EQ(s.waiters(), 0);
  s.release();
  EXPECT_EQ(s.available(), 1);
}

std::atomic<int> signals_handled{0};
TEST(Async, TheThreadThatKeepsDeadlinesRunsNoHandlersOfSignals) {
  semaphore s(1);
  s.acquire();
  sigset_t one, before;
  sigemptyset(&one);
  sigaddset(&one, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &one, &before);
  thread_pool pool(1);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  std::latch ended(1);
  const auto wait = [&]() -> detached {
    EXPECT_FALSE(co_await s.async_acquire(1ms, pool.executor()));
    ended.count_down();
  };
  wait();  // starts that thread, if it is the first, from one that takes the signal
  ended.wait();
  pthread_sigmask(SIG_BLOCK, &one, nullptr);
  struct sigaction counted {
  }, old{};
  counted.sa_handler = [](int) { signals_handled.fetch_add(1); };
  sigaction(SIGUSR1, &counted, &old);
  kill(getpid(), SIGUSR1);
  std::this_thread::sleep_for(20ms);
  const timespec moment{};
  EXPECT_EQ(sigtimedwait(&one, nullptr, &moment), SIGUSR1) << "nobody has taken it";
  EXPECT_EQ(signals_handled.load(), 0);
  sigaction(SIGUSR1, &old, nullptr);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  s.release();
}
TEST(Async, ADeadlineIsTheTimeThatWasGiven) {
  using clock = std::chrono::steady_clock;
  semaphore s(1);
  const auto deadline = [&](auto when) { return s.async_acquire(when, inline_executor{}).deadline; };
  const clock::time_point in_a_year = clock::now() + std::chrono::hours(24 * 365);
  EXPECT_EQ(deadline(in_a_year), in_a_year);
  EXPECT_EQ(deadline(clock::time_point::max()), clock::time_point::max());
  EXPECT_EQ(deadline(std::chrono::time_point<clock, std::chrono::hours>::max()), clock::time_point::max());
  EXPECT_LE(deadline(std::chrono::time_point<clock, std::chrono::hours>::min()), clock::now());
  using exact = std::chrono::duration<double>;
  EXPECT_EQ(deadline(std::chrono::time_point<clock, exact>(exact(1e300))), clock::time_point::max());
  EXPECT_LE(deadline(std::chrono::time_point<clock, exact>(exact(std::nan("")))), clock::now());
}

TEST(Async, ADeadlineThatIsNotReachedDoesNoHarm) {
  semaphore s(1);
  thread_pool pool(1);
  std::latch ended(2);
  s.acquire();
  const auto wait = [&](auto limit) -> detached {
    EXPECT_TRUE(co_await s.async_acquire(limit, pool.executor()));
    s.release();
    ended.count_down();
  };
  wait(1h);
  wait(std::chrono::hours::max());
  s.release();
  ended.wait();
}

TEST(Async, ClosingAndResizingRefuse) {
  semaphore s(3);
  std::string order;
  const auto wait = [&](char name, std::ptrdiff_t w) -> detached {
    try {
      co_await s.async_acquire(w);
      order += name;
    } catch (const refused& r) {
      order += r.why() == refused::reason::closed ? "(closed)" : "(too heavy)";
    }
  };
  s.acquire(3);
  wait('A', 3);
  wait('B', 1);
  wait('C', 2);
  s.resize(2);
  EXPECT_EQ(order, "(too heavy)");
  wait('D', 3);
  EXPECT_EQ(order, "(too heavy)(too heavy)");
  s.release(2);
  EXPECT_EQ(order, "(too heavy)(too heavy)B");
  acquire_and_note(s, order, 'E', std::stop_token{});
  s.close();
  EXPECT_EQ(order.substr(order.find('B')), "Be(closed)");
  wait('F', 1);
  EXPECT_EQ(order.substr(order.find('B')), "Be(closed)(closed)");
  s.release(2);
  EXPECT_EQ(s.waiters(), 0);
}

/// Starts a wait whose refusal calls `answer`.
template <class Answer>
detached wait_and_answer(semaphore& s, std::ptrdiff_t w, Answer answer) {
  try {
    co_await s.async_acquire(w);
  } catch (const refused&) {
    answer();
    co_return;
  }
  s.release(w);
}
TEST(Async, WhoIsRefusedMayCloseResizeAndDestroy) {
  {
    semaphore s(4);
    s.acquire(4);
    wait_and_answer(s, 3, [&] { s.resize(3); });
    s.resize(1);  // goes on in there, and resizes again
    EXPECT_EQ(s.permits(), 3);
    wait_and_answer(s, 1, [&] { s.close(); });
    s.close();
    EXPECT_TRUE(s.closed());
    s.release(4);
  }
  auto gone = std::make_unique<semaphore>(1);
  gone->acquire();
  wait_and_answer(*gone, 1, [&] { gone.reset(); });
  gone->close();
  EXPECT_EQ(gone, nullptr);
}
TEST(Async, WhoIsAdmittedByAResizeMayCloseAndDestroy) {
  auto s = std::make_unique<semaphore>(1);
  s->acquire();
  const auto wait = [&]() -> detached {
    co_await s->async_acquire();
    s->close();
    s.reset();
  };
  wait();
  s->resize(2);
  EXPECT_EQ(s, nullptr);
}

/// One that was refused, and would not be any more when it learns that, has no permits all the same.
TEST(Async, WhatWeightMaxSaidMayBeTooMuchBesideAResize) {
  semaphore s(4);
  std::atomic<bool> over{false};
  std::jthread resizer([&] {
    for (std::ptrdiff_t k = 1; !over; k = k % 4 + 1) s.resize(k);
  });
  while (s.permits() == 4) std::this_thread::yield();
  int ended = 0;
  const auto pass = [&]() -> detached {
    for (; ended < 20'000; ++ended) {
      const std::ptrdiff_t w = s.weight_max();
      try {
        co_await s.async_acquire(w);
        s.release(w);  // stops the program if they were not taken
      } catch (const refused& why) {
        EXPECT_EQ(why.why(), refused::reason::too_heavy);
      }
    }
    over = true;
  };
  pass();
  while (!over) std::this_thread::yield();
  resizer.join();
  EXPECT_EQ(s.available(), s.permits());
}
TEST(Async, ARequestMayBeAwaitedAgain) {
  semaphore s(1);
  std::stop_source stop;
  int passages = 0;
  const auto pass = [&](auto request) -> detached {
    for (int i = 0; i < 3; ++i) {
      co_await *request;
      ++passages;
      s.release();
    }
  };
  auto plain = s.async_acquire();
  auto limited = s.async_acquire(stop.get_token());
  s.acquire();
  pass(&plain);
  pass(&limited);
  EXPECT_EQ(passages, 0);
  s.release();
  EXPECT_EQ(passages, 6);
  EXPECT_EQ(s.available(), 1);
}

TEST(Async, SlotsAreAwaitedInOrder) {
  slots two(2);
  std::vector<std::ptrdiff_t> got;
  const auto work = [&]() -> detached { got.push_back(co_await two.async_acquire()); };
  for (int i = 0; i < 4; ++i) work();
  EXPECT_EQ(got, (std::vector<std::ptrdiff_t>{0, 1}));
  EXPECT_EQ(two.waiters(), 2);
  two.release(1);
  two.release(0);
  EXPECT_EQ(got, (std::vector<std::ptrdiff_t>{0, 1, 1, 0}));
  std::stop_source source;
  std::optional<std::ptrdiff_t> given_up = 7;
  const auto stoppable = [&]() -> detached { given_up = co_await two.async_acquire(source.get_token()); };
  stoppable();
  source.request_stop();
  EXPECT_FALSE(given_up.has_value());
  EXPECT_EQ(two.waiters(), 0);
  bool refused_one = false;
  const auto late = [&]() -> detached {
    try {
      static_cast<void>(co_await two.async_acquire());
    } catch (const refused&) {
      refused_one = true;
    }
  };
  late();
  two.close();
  EXPECT_TRUE(refused_one);
  two.release(0);
  two.release(1);
}
TEST(Async, APoolLendsToCoroutinesInOrder) {
  pool<int> one(1, [](std::ptrdiff_t) { return 5; });
  std::vector<int> seen;
  thread_pool threads(1);
  {
    auto mine = one.borrow();
    const auto work = [&]() -> detached {
      auto lease = co_await one.async_borrow();
      seen.push_back((*lease)++);
    };
    work();
    work();
    std::atomic<int> empty{-1};
    const auto timed = [&]() -> detached {
      const auto lease = co_await one.async_borrow(5ms, threads.executor());
      empty = lease ? 0 : 1;
    };
    timed();
    while (empty == -1) std::this_thread::yield();
    EXPECT_EQ(empty, 1);
    EXPECT_EQ(one.waiters(), 2);
  }
  EXPECT_EQ(seen, (std::vector<int>{5, 6}));
  EXPECT_EQ(one.available(), 1);
  pool<int> broken(1, [](std::ptrdiff_t) -> int { throw std::runtime_error("cannot be made"); });
  bool thrown = false;
  const auto fails = [&]() -> detached {
    try {
      const auto lease = co_await broken.async_borrow();
    } catch (const std::runtime_error&) {
      thrown = true;
    }
  };
  fails();
  EXPECT_TRUE(thrown);
  EXPECT_EQ(broken.available(), 1) << "the slot is free again";
}

TEST(Async, ACoroutineMayBeDestroyedInTheQueue) {
  semaphore s(1);
  std::stop_source stop;
  std::string order;
  s.acquire();
  const detached first = acquire_and_note(s, order, 'A');
  const detached second = acquire_and_note(s, order, 'B', stop.get_token());
  acquire_and_note(s, order, 'C');
  second.frame.destroy();
  first.frame.destroy();
  stop.request_stop();
  s.release();
  EXPECT_EQ(order, "C");
  s.release();
}

TEST(Async, GoesOnAtTheExecutorGiven) {
  semaphore s(1);
  thread_pool pool(1);
  std::thread::id where;
  std::latch ended(1);
  s.acquire();
  const auto wait = [&]() -> detached {
    co_await s.async_acquire(pool.executor());
    where = std::this_thread::get_id();
    s.release();
    ended.count_down();
  };
  wait();
  s.release();
  ended.wait();
  EXPECT_NE(where, std::this_thread::get_id());
}

TEST(Async, AChainOfHandOversNeedsNoStack) {
  semaphore s(1);
  constexpr int coroutines = 1000, rounds = 1000;
  int inside = 0, passages = 0;
  const auto work = [&]() -> detached {
    for (int i = 0; i < rounds; ++i) {
      co_await s.async_acquire();
      EXPECT_EQ(++inside, 1);
      ++passages;
      --inside;
      s.release();
    }
  };
  s.acquire();
  for (int i = 0; i < coroutines; ++i) work();
  s.release();
  EXPECT_EQ(passages, coroutines * rounds);
}

TEST(Async, IsCounted) {
  basic_semaphore<fifo, adaptive, statistics> s(1);
  std::stop_source stop;
  std::string order;
  acquire_and_note(s, order, 'A');
  acquire_and_note(s, order, 'B');
  acquire_and_note(s, order, 'C', stop.get_token());
  stop.request_stop();
  s.release();
  EXPECT_EQ(order, "AcB");
  EXPECT_EQ(s.counts().grants, 2U);
  EXPECT_EQ(s.counts().given_up, 1U);
  s.release();
}

double processor_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int many = 50'000;
#else
constexpr int many = 1'000'000;
#endif
TEST(Async, AMillionWaitWithoutProcessorTime) {
  semaphore s(1);
  std::size_t passed = 0;
  const auto wait = [&]() -> detached {
    co_await s.async_acquire();
    ++passed;
    s.release();
  };
  s.acquire();
  for (int i = 0; i < many; ++i) wait();
  EXPECT_EQ(s.waiters(), many);
  const double before = processor_seconds();
  std::this_thread::sleep_for(500ms);
  EXPECT_LT(processor_seconds() - before, 0.005);
  EXPECT_EQ(passed, 0U);
  s.release();
  EXPECT_EQ(passed, static_cast<std::size_t>(many));
}

/// As detached, and says how large its frame is.
struct weighed {
  struct promise_type {
    static inline std::size_t frame_bytes = 0;
    static void* operator new(std::size_t bytes) {
      frame_bytes = bytes;
      return ::operator new(bytes);
    }
    static void operator delete(void* frame) { ::operator delete(frame); }
    weighed get_return_object() noexcept { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    void unhandled_exception() noexcept { std::terminate(); }
  };
  std::coroutine_handle<> frame;
};
/// The bytes of a frame that `start` makes.
std::size_t frame_of(const std::function<weighed()>& start) {
  const weighed one = start();
  one.frame.destroy();
  return weighed::promise_type::frame_bytes;
}
TEST(Async, AWaiterTakesAtMost160BytesAndNoneBesideItsFrame) {
  semaphore s(1);
  s.acquire();
  const std::size_t bare = frame_of([]() -> weighed { co_await std::suspend_always{}; });
  const auto wait = [&]() -> weighed { co_await s.async_acquire(); };
  const auto wait_with_limits = [&]() -> weighed {
    static_cast<void>(co_await s.async_acquire(std::stop_token{}, 1h, inline_executor{}));
  };
  EXPECT_LE(frame_of(wait), bare + 160);
  const std::size_t own = sizeof(std::stop_token) + sizeof(1h) + sizeof(void*);  // what it passes, and where `s` is
  EXPECT_LE(frame_of(wait_with_limits), bare + own + 160);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  constexpr std::size_t waiters = 10'000, malloc_overhead = 16;
  std::vector<weighed> all;
  all.reserve(waiters);
  const std::size_t before = mallinfo2().uordblks;
  for (std::size_t i = 0; i < waiters; ++i) all.push_back(wait());
  EXPECT_LE(mallinfo2().uordblks - before, waiters * (weighed::promise_type::frame_bytes + malloc_overhead));
  for (const weighed& one : all) one.frame.destroy();
#endif
  s.release();
}
TEST(Async, AMillionAreRefusedAtOnce) {
  semaphore s(1);
  int refusals = 0;
  const auto wait = [&]() -> detached { refusals += co_await s.async_acquire(std::stop_token{}) ? 0 : 1; };
  s.acquire();
  for (int i = 0; i < many; ++i) wait();
  s.close();
  EXPECT_EQ(refusals, many);
  s.release();
}

}  // namespace
}  // namespace kgate
