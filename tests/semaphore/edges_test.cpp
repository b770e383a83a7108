// SPDX-License-Identifier: Apache-2.0
// What is asked for seldom: the ends of time, closing, requests that cannot be granted any more, permits moved about.
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <limits>
#include <stop_token>
#include <string_view>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "kgate/semaphore.hpp"
#include "kgate/slots.hpp"

namespace {

using namespace std::chrono_literals;
using namespace std::chrono;

template <class S>
class semaphore_edges : public testing::Test {};
using kinds = testing::Types<kgate::semaphore, kgate::basic_semaphore<kgate::bounded_overtaking<8>>>;
TYPED_TEST_SUITE(semaphore_edges, kinds);

template <class S>
void until_waiting(const S& s, std::ptrdiff_t count) {
  while (s.waiters() < count) std::this_thread::sleep_for(1ms);
}

constinit kgate::semaphore made_by_the_compiler(3);
static_assert(sizeof(kgate::semaphore) <= 64);
TEST(semaphore_edges_static, is_ready_before_main) { EXPECT_EQ(made_by_the_compiler.available(), 3); }

TYPED_TEST(semaphore_edges, the_ends_of_time) {
  TypeParam s(1);
  s.acquire();
  EXPECT_FALSE(s.try_acquire_until(steady_clock::time_point::min()));
  EXPECT_FALSE(s.try_acquire_until(system_clock::time_point::min()));
  EXPECT_FALSE(s.try_acquire_until(time_point<system_clock, hours>::min()));
  EXPECT_FALSE(s.try_acquire_for(nanoseconds::min()));
  EXPECT_FALSE(s.try_acquire_for(hours::min()));
  EXPECT_FALSE(s.try_acquire_for(duration<double>(-1e300)));
  EXPECT_FALSE(s.try_acquire_for(duration<double>(std::numeric_limits<double>::quiet_NaN())));
  std::stop_source stop;
  std::vector<std::jthread> waiters;
  const auto waits = [&](auto wait) {
    const std::ptrdiff_t before = s.waiters();
    waiters.emplace_back([&s, wait] { EXPECT_TRUE(wait(s)); });
    until_waiting(s, before + 1);
  };
  waits([](TypeParam& x) { return x.try_acquire_until(steady_clock::time_point::max()); });
  waits([](TypeParam& x) { return x.try_acquire_until(system_clock::time_point::max()); });
  waits([](TypeParam& x) { return x.try_acquire_until(time_point<system_clock, hours>::max()); });
  waits([](TypeParam& x) { return x.try_acquire_for(nanoseconds::max()); });
  waits([](TypeParam& x) { return x.try_acquire_for(hours::max()); });
  waits([](TypeParam& x) { return x.try_acquire_for(duration<double>(std::numeric_limits<double>::infinity())); });
  // A hundred years in thirds of a second: in nanoseconds it fits, three times as many do not.
  using thirds = duration<std::int64_t, std::ratio<1, 3>>;
  waits([](TypeParam& x) { return x.try_acquire_for(thirds(10'000'000'000)); });
  waits([](TypeParam& x) { return x.try_acquire_until(time_point<steady_clock, thirds>(thirds(10'000'000'000))); });
  waits([](TypeParam& x) { return x.try_acquire_for(thirds::max()); });
  EXPECT_EQ(s.waiters(), 9);
  for (int i = 0; i < 9; ++i) s.release(), std::this_thread::sleep_for(1ms);
  waiters.clear();
  s.release();
  EXPECT_EQ(s.available(), 1);
}

// Of a time that the kernel reads wrongly it would be none, again and again.
TEST(semaphore_edges_time, a_wait_with_a_limit_is_one_sleep) {
  kgate::basic_semaphore<kgate::fifo, kgate::adaptive, kgate::statistics> s(1);
  s.acquire();
  const auto before = steady_clock::now();
  EXPECT_FALSE(s.try_acquire_for(50ms));
  EXPECT_GE(steady_clock::now() - before, 50ms);
  EXPECT_GE(s.counts().waits, 1U);
  EXPECT_LE(s.counts().waits, 3U);
  s.release();
}

TYPED_TEST(semaphore_edges, a_stop_that_was_requested_before) {
  TypeParam s(1);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_TRUE(s.acquire(stop.get_token())) << "free permits are taken";
  EXPECT_FALSE(s.acquire(stop.get_token()));
  EXPECT_FALSE(s.try_acquire_for(stop.get_token(), 1h));
  EXPECT_FALSE(s.try_acquire_until(stop.get_token(), steady_clock::now() + 1h));
  s.release();
}

TYPED_TEST(semaphore_edges, permits_are_moved_split_merged_and_forgotten) {
  TypeParam s(5);
  kgate::basic_permit all(s, 5);
  kgate::basic_permit<TypeParam> moved(std::move(all));
  EXPECT_FALSE(all);
  EXPECT_EQ(all.count(), 0);
  all.reset();
  EXPECT_EQ(s.available(), 0);
  auto two = moved.split(2);
  EXPECT_EQ(moved.count(), 3);
  two.reset();
  EXPECT_EQ(s.available(), 2);
  auto one = moved.split(1);
  moved.merge(std::move(one));
  EXPECT_EQ(moved.count(), 3);
  EXPECT_EQ(moved.forget(), 3);
  EXPECT_FALSE(moved);
  EXPECT_EQ(s.holders(), 3);
  s.release(3);
  EXPECT_DEATH((void)kgate::basic_permit(s).split(2), "split of fewer than one permit");
}

TYPED_TEST(semaphore_edges, permits_are_adopted_as_they_were_forgotten) {
  TypeParam s(3);
  kgate::permit two(s, 2);
  kgate::permit again(s, std::adopt_lock, two.forget());
  EXPECT_TRUE(again);
  EXPECT_EQ(again.count(), 2);
  const kgate::permit none(s, std::adopt_lock, two.forget());  // which has none left
  EXPECT_FALSE(none);
  EXPECT_EQ(none.count(), 0);
  EXPECT_EQ(s.holders(), 2);
  again.reset();
  EXPECT_EQ(s.holders(), 0);
  EXPECT_DEATH((void)kgate::permit(s, std::adopt_lock, -1), "adopts fewer than no permits");
}

struct keeper {
  kgate::permit mine;
};
template <class S>
kgate::permit taken_from(S& s) {
  return kgate::permit(s, 10ms);
}

TYPED_TEST(semaphore_edges, a_permit_is_of_any_semaphore) {
  TypeParam s(5);
  std::stop_source stop;
  {
    const kgate::permit waited(s), two(s, 2), tried(s, std::try_to_lock), stopped(s, stop.get_token());
    EXPECT_EQ(two.count(), 2);
    EXPECT_EQ(s.available(), 0);
    EXPECT_FALSE(kgate::permit(s, std::try_to_lock));
    EXPECT_FALSE(kgate::permit(s, 1ms));
  }
  EXPECT_EQ(s.available(), 5);
  keeper kept{taken_from(s)};
  kept.mine.merge(kgate::basic_permit(s, 2));  // of one that knows the type
  EXPECT_EQ(kept.mine.count(), 3);
  kgate::permit part = kept.mine.split(1);
  kept.mine.reset();
  EXPECT_EQ(s.available(), 4);
  kgate::semaphore other(1);
  part = kgate::permit(other);
  EXPECT_EQ(s.available(), 5);
  EXPECT_EQ(other.available(), 0);
  part = kgate::basic_permit<TypeParam>();
  EXPECT_FALSE(part);
  EXPECT_EQ(other.available(), 1);
  EXPECT_DEATH(kgate::permit(s).merge(kgate::permit(other)), "merge of permits of different semaphores");
  static_assert(!std::is_constructible_v<kgate::basic_permit<TypeParam>, kgate::permit>);
  static_assert(!std::is_constructible_v<kgate::permit, kgate::slots&>, "a slot has a number");
}

/// Does something in the waiter that was interrupted, before it looks why.
struct meddling : kgate::adaptive {
  static inline std::function<void()> meanwhile;
  static void step(const char* label) {
    if (std::string_view(label) == "6i" && meanwhile) std::exchange(meanwhile, {})();
  }
};
// Fewer permits interrupt it; then there are enough again, and it is admitted before it has looked.
TEST(semaphore_edges_resize, a_waiter_that_is_refused_and_then_admitted_goes_on) {
  kgate::basic_semaphore<kgate::fifo, meddling> s(2);
  s.acquire();
  std::jthread waiter([&] {
    s.acquire(2);
    s.release(2);
  });
  until_waiting(s, 1);
  meddling::meanwhile = [&] {
    s.resize(2);
    s.release();
  };
  s.resize(1);
  waiter.join();
  EXPECT_FALSE(meddling::meanwhile);
  EXPECT_EQ(s.available(), 2);
}

TYPED_TEST(semaphore_edges, closing_refuses_those_who_wait_and_those_who_come) {
  TypeParam s(2);
  s.acquire(2);
  std::atomic<int> thrown{0}, refused{0};
  std::vector<std::jthread> waiters;
  for (int i = 0; i < 3; ++i)
    waiters.emplace_back([&] {
      try {
        s.acquire();
      } catch (const kgate::refused& why) {
        thrown += why.why() == kgate::refused::reason::closed ? 1 : 100;
      }
    });
  waiters.emplace_back([&] { refused += s.try_acquire_for(1h) ? 100 : 1; });
  until_waiting(s, 4);
  s.close();
  waiters.clear();
  EXPECT_EQ(thrown, 3);
  EXPECT_EQ(refused, 1);
  EXPECT_TRUE(s.closed());
  s.release();
  EXPECT_THROW(s.acquire(), kgate::refused);
  EXPECT_FALSE(s.try_acquire());
  EXPECT_FALSE(s.try_acquire_for(1h));
  s.resize(5);
  EXPECT_FALSE(s.try_acquire());
  s.release();
  EXPECT_EQ(s.holders(), 0);
}

TYPED_TEST(semaphore_edges, a_request_for_more_than_there_are_left_is_refused_and_blocks_nobody) {
  TypeParam s(4);
  s.acquire(4);
  std::atomic<bool> heavy{false}, timed{false}, light{false};
  std::jthread first([&] {
    try {
      s.acquire(3);
    } catch (const kgate::refused& why) {
      heavy = why.why() == kgate::refused::reason::too_heavy;
    }
  });
  until_waiting(s, 1);
  std::jthread second([&] { timed = !s.try_acquire_for(1h, 4); });
  until_waiting(s, 2);
  std::jthread third([&] {
    s.acquire(2);
    light = true;
    s.release(2);
  });
  until_waiting(s, 3);
  s.resize(2);
  first.join();
  second.join();
  EXPECT_TRUE(heavy);
  EXPECT_TRUE(timed);
  EXPECT_FALSE(light);
  EXPECT_EQ(s.holders(), 4);
  EXPECT_EQ(s.waiters(), 1);
  s.release(4);
  third.join();
  EXPECT_TRUE(light);
  EXPECT_EQ(s.available(), 2);
}

// One that was refused, and would not be any more when it learns that, has no permits all the same.
TYPED_TEST(semaphore_edges, what_weight_max_said_may_be_too_much_beside_a_resize) {
  constexpr int rounds = 20'000;
  TypeParam s(4);
  std::atomic<bool> over{false};
  std::jthread resizer([&] {
    for (std::ptrdiff_t k = 1; !over; k = k % 4 + 1) s.resize(k);
  });
  while (s.permits() == 4) std::this_thread::yield();
  int granted = 0, refusals = 0;
  for (int i = 0; i < rounds; ++i) {
    const std::ptrdiff_t w = s.weight_max();
    try {
      s.acquire(w);
      s.release(w);  // stops the program if they were not taken
      ++granted;
    } catch (const kgate::refused& why) {
      EXPECT_EQ(why.why(), kgate::refused::reason::too_heavy);
      ++refusals;
    }
  }
  over = true;
  resizer.join();
  EXPECT_EQ(granted + refusals, rounds);
  EXPECT_EQ(s.available(), s.permits());
}

double cpu_seconds() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  return static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}
TYPED_TEST(semaphore_edges, two_hundred_waiters_are_counted_and_cost_nothing) {
  TypeParam s(1);
  s.acquire();
  std::vector<std::jthread> threads;
  for (int i = 0; i < 200; ++i)
    threads.emplace_back([&s, i] {
      if (i % 2 == 0)
        s.acquire();
      else if (!s.try_acquire_for(1h))
        return;
      s.release();
    });
  until_waiting(s, 200);
  EXPECT_EQ(s.holders(), 1);
  const double before = cpu_seconds();
  std::this_thread::sleep_for(300ms);
  EXPECT_LT(cpu_seconds() - before, 0.05);
  s.release();
  threads.clear();
  EXPECT_EQ(s.available(), 1);
}

// The handler interrupts its own thread anywhere, also where it holds the lock of a bucket.
kgate::semaphore signalled(1'000'000);
std::atomic<int> releases{0};
TEST(semaphore_edges_signal, a_handler_may_release) {
  signalled.acquire(1'000'000);
  struct sigaction action {};
  action.sa_handler = [](int) {
    signalled.release();
    ++releases;
  };
  ::sigaction(SIGUSR1, &action, nullptr);
  std::atomic<int> got{0};
  std::atomic<bool> over{false};
  std::thread user([&] {
    while (!over)
      if (signalled.try_acquire_for(50us)) ++got;
  });
  for (int i = 0; i < 2000; ++i) {
    ::pthread_kill(user.native_handle(), SIGUSR1);
    for (int j = 0; j < 20; ++j) kgate::cpu_relax();
  }
  while (releases < 1) std::this_thread::yield();
  std::this_thread::sleep_for(20ms);
  over = true;
  user.join();
  signalled.release(1'000'000 - releases + got);
  EXPECT_EQ(signalled.available(), 1'000'000);
}

// A cancelled thread that waits is not interrupted there, and nothing terminates.
TEST(semaphore_edges_cancel, a_thread_may_be_cancelled) {
  kgate::semaphore s(1);
  s.acquire();
  std::atomic<bool> inside{false};
  std::thread waiter([&] {
    s.acquire();
    inside = true;
    s.release();
  });
  until_waiting(s, 1);
  ::pthread_cancel(waiter.native_handle());
  std::this_thread::sleep_for(5ms);
  s.release();
  waiter.join();
  EXPECT_TRUE(inside);
  EXPECT_EQ(s.available(), 1);
}

}  // namespace
