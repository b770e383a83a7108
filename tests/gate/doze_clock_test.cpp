// SPDX-License-Identifier: Apache-2.0
/// The clock that stands for the timers of a process whose waits are many and short: it is there while they are, no
/// longer, one for all gates; a doze under it does not outlast the death of the holder; and it is a thread in programs
/// that fork, cancel threads, pin them and run out of them.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iterator>
#include <memory>
#include <new>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "gate/faults/scratch.hpp"
#include "gate/pace.hpp"
#include "kgate/gate.hpp"

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define KGATE_TEST_COUNTS_THREADS
namespace {
std::atomic<bool> no_threads{false};
std::atomic<int> refused_threads{0};
std::atomic<bool> slow_ticks{false};
thread_local bool passes = false;
}  // namespace

/// In the place of the C library's: refuses threads where a test asks for that, and counts how often.
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*main)(void*),
                              void* argument) noexcept {
  using function = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto real = reinterpret_cast<function>(dlsym(RTLD_NEXT, "pthread_create"));
  if (no_threads) {
    refused_threads.fetch_add(1);
    return EAGAIN;
  }
  return real(thread, attributes, main, argument);
}

/// In the place of the C library's: where a test asks for that, the library's thread takes long over a tick, at the
/// beginning of which it reads this clock, and has its lock meanwhile.
extern "C" int clock_gettime(clockid_t which, timespec* now) noexcept {
  using function = int (*)(clockid_t, timespec*);
  static const auto real = reinterpret_cast<function>(dlsym(RTLD_NEXT, "clock_gettime"));
  if (slow_ticks && !passes && which == CLOCK_REALTIME_COARSE) usleep(5000);
  return real(which, now);
}
#endif

namespace kgate {
namespace {

using namespace std::chrono_literals;

#ifdef __SANITIZE_THREAD__
constexpr bool children_may_begin_threads = false;
#else
constexpr bool children_may_begin_threads = true;
#endif

std::ptrdiff_t threads_of_this_process() {
  static const bool first = (std::thread([] {}).join(), true);  // with it a sanitizer begins one of its own
  static_cast<void>(first);
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
}

/// Whether `condition` came true within a time that no machine should need.
template <class F>
bool soon(F&& condition) {
  const auto until = std::chrono::steady_clock::now() + 30s;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(1ms);
  }
  return true;
}

gate strict_gate(const faults::scratch& where, const std::string& name = "clocked") {
  gate_options options;
  options.directory = where.path();
  options.overtakings = 0;
  return gate(name, 1, options);
}

void pass(gate::member& me) {
#ifdef KGATE_TEST_COUNTS_THREADS
  passes = true;
#endif
  me.enter();
  me.leave();
}

/// Threads that pass a gate all the time, each with a member of its own, until they are asked to stop.
class crowd {
 public:
  crowd(gate& shared, int members) : shared_(shared) {
    for (int i = 0; i < members; ++i)
      threads_.emplace_back([this, i] {
        gate::member me = shared_.join();
        while (!stop_ && i < most_) {
          pass(me);
          passages_.fetch_add(1, std::memory_order_relaxed);
        }
      });
  }
  crowd(const crowd&) = delete;
  crowd& operator=(const crowd&) = delete;
  ~crowd() { stop(); }
  void stop() {
    stop_ = true;
    for (std::thread& one : threads_) one.join();
    threads_.clear();
  }
  /// All but so many stop.
  void leave(int members) {
    most_ = members;
    while (static_cast<int>(threads_.size()) > members) {
      threads_.back().join();
      threads_.pop_back();
    }
  }
  long passages() const { return passages_; }

 private:
  gate& shared_;
  std::atomic<bool> stop_{false};
  std::atomic<int> most_{1 << 30};
  std::atomic<long> passages_{0};
  std::vector<std::thread> threads_;
};

/// Whether `count` threads are there, besides those there were `before`.
bool soon_more(std::ptrdiff_t before, std::ptrdiff_t count) {
  return soon([&] { return threads_of_this_process() == before + count; });
}

TEST(doze_clock, comes_with_many_short_waits_and_goes_with_them) {
  const faults::scratch where;
  gate shared = strict_gate(where);
  const auto before = threads_of_this_process();
  crowd members(shared, 4);
  EXPECT_TRUE(soon_more(before, 5)) << "no clock";
  members.stop();
  EXPECT_TRUE(soon_more(before, 0)) << "the clock goes on though nobody waits";
  EXPECT_EQ(shared.status().free, 1);
}

TEST(doze_clock, ends_though_somebody_passes_who_need_not_wait) {
  const faults::scratch where;
  gate shared = strict_gate(where);
  const auto before = threads_of_this_process();
  crowd members(shared, 4);
  EXPECT_TRUE(soon_more(before, 5)) << "no clock";
  members.leave(1);
  EXPECT_TRUE(soon_more(before, 1)) << "the clock goes on though nobody waits";
}

/// Among very many none of them waits often enough.
TEST(doze_clock, ends_when_there_are_too_many_others) {
  const faults::scratch where;
  gate shared = strict_gate(where), theirs = strict_gate(where);
  const auto before = threads_of_this_process();
  crowd members(shared, 2);
  EXPECT_TRUE(soon_more(before, 3)) << "no clock";
  std::vector<gate::member> others;
  for (unsigned i = 0; i < 2 * detail::gates::clocks_most + 100; ++i) others.push_back(theirs.join());
  EXPECT_TRUE(soon_more(before, 2)) << "the clock goes on";
  const long passages = members.passages();
  EXPECT_TRUE(soon([&] { return members.passages() > passages + 1000; }));
  EXPECT_EQ(threads_of_this_process(), before + 2) << "it has come back";
}

TEST(doze_clock, is_one_for_all_gates_of_a_process) {
  constexpr int gates = 8;
  const faults::scratch where;
  const auto before = threads_of_this_process();
  std::vector<std::unique_ptr<gate>> all;
  std::vector<std::unique_ptr<crowd>> crowds;
  for (int i = 0; i < gates; ++i) {
    all.push_back(std::make_unique<gate>(strict_gate(where, "clocked" + std::to_string(i))));
    crowds.push_back(std::make_unique<crowd>(*all.back(), 3));
  }
  // Each of them has had reason to want one by then.
  for (const auto& one : crowds) EXPECT_TRUE(soon([&] { return one->passages() > 2000; }));
  EXPECT_TRUE(soon_more(before, 3 * gates + 1));
  // Those that are left have their dozes ended still.
  crowds.resize(1);
  all.resize(1);
  const long passages = crowds[0]->passages();
  EXPECT_TRUE(soon([&] { return crowds[0]->passages() > passages + 2000; }));
  EXPECT_TRUE(soon_more(before, 4));
  crowds.clear();
  all.clear();
  EXPECT_EQ(threads_of_this_process(), before) << "it outlives the last gate";
}

/// However many take part, and whatever part of them is this process: a death is noticed in the time that is promised.
TEST(doze_clock, ticks_often_enough) {
  using namespace detail::gates;
  for (unsigned members = 1; members <= members_max; members += 1 + members / 50)
    for (unsigned own = 1; own <= members; own += 1 + own / 10) {
      EXPECT_LE(clock_tick_ns(members, own) + healing_ns, noticed_ns) << own << " of " << members;
      EXPECT_GE(clock_tick_ns(members, own), clock_tick_least_ns);
    }
  EXPECT_EQ(clock_tick_ns(members_max, members_max), clock_tick_least_ns) << "one process has one clock";
  constexpr std::int64_t coarse_clock_ns = 10'000'000;  // its steps, and so how long no other need look
  for (unsigned members = 1; members <= members_max; members += 1 + members / 50)
    EXPECT_LE(dozing_ns(members, 1000) + coarse_clock_ns, noticed_without_clock_ns) << members;
}

/// What a parent and its child know of each other.
enum class phase : int { passing, stay_inside, inside };
std::atomic<phase>& shared_phase() {
  void* const there =
      mmap(nullptr, sizeof(std::atomic<phase>), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return *new (there) std::atomic<phase>(phase::passing);
}

[[noreturn]] void pass_and_stay_inside(const faults::scratch& where, std::atomic<phase>& is) {
  gate mine = strict_gate(where);
  gate::member me = mine.join();
  while (is == phase::passing) pass(me);
  me.enter();
  is = phase::inside;
  for (;;) pause();
}

TEST(doze_clock, does_not_let_a_waiter_sleep_on_when_the_holder_has_died) {
  for (int round = 0; round < 5; ++round) {
    const faults::scratch where;
    std::atomic<phase>& is = shared_phase();
    const pid_t child = fork();
    if (child == 0) pass_and_stay_inside(where, is);
    const auto before = threads_of_this_process();
    std::atomic<bool> killed{false};
    gate shared = strict_gate(where);
    std::thread waiter([&] {
      gate::member me = shared.join();
      while (!killed) pass(me);
    });
    EXPECT_TRUE(soon([&] { return threads_of_this_process() == before + 2; })) << "no clock";
    is = phase::stay_inside;
    EXPECT_TRUE(soon([&] { return is == phase::inside; }));
    std::this_thread::sleep_for(2ms * round);
    killed = true;
    kill(child, SIGKILL);
    waiter.join();  // or it sleeps for ever
    waitpid(child, nullptr, 0);
    EXPECT_EQ(shared.status().healed, 1U);
    EXPECT_EQ(shared.status().free, 1);
  }
}

/// With so many that take part a doze lasts for 200 ms, and nothing moves meanwhile that would make another look
/// sooner: only the clock notices that the one inside has died. How long that takes, half of the time.
double until_a_death_is_noticed_ms(int others, int rounds) {
  const faults::scratch where;
  gate shared = strict_gate(where);
  std::vector<gate::member> idle;
  for (int i = 0; i < others; ++i) idle.push_back(shared.join());
  std::vector<double> ms;
  const auto before = threads_of_this_process();
  for (int round = 0; round < rounds; ++round) {
    EXPECT_TRUE(soon_more(before, 0)) << "the clock of the last round goes on";
    std::atomic<phase>& is = shared_phase();
    const pid_t child = fork();
    if (child == 0) pass_and_stay_inside(where, is);
    crowd members(shared, 3);
    EXPECT_TRUE(soon_more(before, 4)) << "no clock";
    is = phase::stay_inside;
    EXPECT_TRUE(soon([&] { return is == phase::inside; }));
    std::this_thread::sleep_for(10ms + 1ms * round);  // all of them doze
    const long passages = members.passages();
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    const auto dead = std::chrono::steady_clock::now();
    while (members.passages() == passages) std::this_thread::yield();
    ms.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - dead).count());
  }
  std::nth_element(ms.begin(), ms.begin() + rounds / 2, ms.end());
  return ms[static_cast<std::size_t>(rounds / 2)];
}

/// The machine may be busy: the best of three runs counts.
TEST(doze_clock, notices_a_death_in_time_where_dozes_are_long) {
  using namespace detail::gates;
  constexpr int others = 400;
  constexpr double most_ms = 60;
  ASSERT_GE(clocked_doze_ns(others), 200'000'000);
  double best = 1e9;
  for (int run = 0; run < 3 && best > most_ms; ++run) best = std::min(best, until_a_death_is_noticed_ms(others, 9));
  std::printf("noticed after %.1f ms\n", best);
  std::fflush(stdout);  // or the children of other tests print it, too
  EXPECT_LE(best, most_ms);
}

/// Does `body` in a process of its own: how it ended; by SIGALRM if it hung.
int in_child(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    std::exit(body());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

/// The child has a copy of everything but the threads, as they were in the middle of something; it destroys all of it,
/// and may have gates of its own.
TEST(doze_clock, a_child_made_meanwhile_neither_hangs_nor_acts) {
  const faults::scratch where;
  gate shared = strict_gate(where);
  std::vector<gate::member> members;  // here, so that a child can destroy the last of what refers to the gate
  for (int i = 0; i < 4; ++i) members.push_back(shared.join());
  const auto before = threads_of_this_process();
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (gate::member& me : members)
    threads.emplace_back([&] {
      while (!stop) pass(me);
    });
  EXPECT_TRUE(soon_more(before, 5)) << "no clock";
#ifdef KGATE_TEST_COUNTS_THREADS
  passes = true;
  slow_ticks = true;  // so that many are made while the clock has its lock
#endif
  int status = 0;
  for (int i = 0; i < 50 && status == 0; ++i) {
    status = in_child([&] {
      if (i % 5 != 0 || !children_may_begin_threads) {
        members.clear();
        { const gate ended = std::move(shared); }
        return 0;
      }
      try {
        shared.status();
        return 1;
      } catch (const gate_error& error) {
        if (error.code() != gate_errc::forked) return 2;
      }
      gate mine = strict_gate(where, "mine");
      crowd own(mine, 4);
      const bool clocked = soon_more(1, 5);
      own.stop();
      return clocked ? 0 : 3;
    });
    EXPECT_EQ(status, 0) << "child " << i;
  }
#ifdef KGATE_TEST_COUNTS_THREADS
  slow_ticks = false;
#endif
  stop = true;
  for (std::thread& one : threads) one.join();
  EXPECT_EQ(shared.status().free, 1);
  EXPECT_EQ(shared.status().healed, 0U) << "a child was taken for a member";
}

/// Destructors join the library's threads; a thread that is being cancelled gets through that.
TEST(doze_clock, a_gate_is_destroyed_by_a_thread_that_is_being_cancelled) {
  if (!children_may_begin_threads) GTEST_SKIP() << "a child cannot begin threads here";
  const int status = in_child([] {
    const faults::scratch where;
    auto shared = std::make_unique<gate>(strict_gate(where));
    const auto before = threads_of_this_process();
    {
      crowd members(*shared, 4);
      if (!soon_more(before, 5)) return 1;
    }
    std::atomic<bool> destroyed{false};
    std::thread ends([&] {
      pthread_cancel(pthread_self());
      shared.reset();
      destroyed = true;
      pthread_testcancel();
      destroyed = false;
    });
    ends.join();
    return destroyed && threads_of_this_process() == before ? 0 : 2;
  });
  EXPECT_EQ(status, 0);
}

TEST(doze_clock, one_that_has_waited_for_long_gets_inside_though_it_is_being_cancelled) {
  if (!children_may_begin_threads) GTEST_SKIP() << "a child cannot begin threads here";
  const faults::scratch where;
  std::atomic<bool> begun{false};
  const int status = in_child([&] {
    auto shared = std::make_unique<gate>(strict_gate(where));
    gate other = strict_gate(where);
    const pid_t holder = fork();  // another process, which the waiter has to watch
    if (holder == 0) {
      gate its = strict_gate(where);
      const gate::permit inside = its.enter();
      for (;;) pause();
    }
    while (other.status().holders.empty()) std::this_thread::yield();
    const auto before = threads_of_this_process();
    bool inside = false;
    std::thread waits([&] {
      const gate::permit permit = shared->enter();
      inside = true;
      pthread_testcancel();
      inside = false;
    });
    if (!soon_more(before, 2)) return 1;  // it watches
    pthread_cancel(waits.native_handle());
    kill(holder, SIGKILL);
    waits.join();
    waitpid(holder, nullptr, 0);
    return inside ? 0 : 2;
  });
  EXPECT_EQ(status, 0);
}

std::set<pid_t> thread_numbers() {
  std::set<pid_t> all;
  for (const auto& one : std::filesystem::directory_iterator("/proc/self/task"))
    all.insert(std::stoi(one.path().filename().string()));
  return all;
}

/// The clock runs whenever a processor is free that the program may use, whichever thread began it.
TEST(doze_clock, has_not_the_policy_and_the_processor_of_who_began_it) {
  cpu_set_t whole;
  ASSERT_EQ(sched_getaffinity(getpid(), sizeof whole, &whole), 0);
  const faults::scratch where;
  gate shared = strict_gate(where);
  std::set<pid_t> before = thread_numbers();
  std::atomic<bool> stop{false};
  std::atomic<int> ready{0};
  std::vector<std::thread> members;
  for (int i = 0; i < 4; ++i)
    members.emplace_back([&] {
      cpu_set_t one;
      CPU_ZERO(&one);
      int first = 0;
      while (!CPU_ISSET(first, &whole)) ++first;
      CPU_SET(first, &one);
      sched_setaffinity(0, sizeof one, &one);
      const sched_param none{};
      sched_setscheduler(0, SCHED_BATCH, &none);
      ready.fetch_add(1);
      while (ready < 5) std::this_thread::yield();
      gate::member me = shared.join();
      while (!stop) pass(me);
    });
  while (ready < 4) std::this_thread::yield();
  for (const pid_t one : thread_numbers()) before.insert(one);
  ready.fetch_add(1);
  pid_t clock = 0;
  EXPECT_TRUE(soon([&] {
    for (const pid_t one : thread_numbers())
      if (before.count(one) == 0) clock = one;
    return clock != 0;
  })) << "no clock";
  cpu_set_t its;
  EXPECT_TRUE(soon([&] { return sched_getaffinity(clock, sizeof its, &its) == 0 && CPU_EQUAL(&its, &whole); }));
  EXPECT_EQ(sched_getscheduler(clock), SCHED_OTHER);
  stop = true;
  for (std::thread& one : members) one.join();
}

#ifdef KGATE_TEST_COUNTS_THREADS
TEST(doze_clock, is_not_wanted_again_and_again_where_there_are_no_threads_to_be_had) {
  const faults::scratch where;
  gate shared = strict_gate(where);
  const auto before = threads_of_this_process();
  const auto began = std::chrono::steady_clock::now();
  std::atomic<bool> go{false}, stop{false};
  std::atomic<long> passages{0};
  std::vector<std::thread> members;
  for (int i = 0; i < 4; ++i)
    members.emplace_back([&] {
      gate::member me = shared.join();
      while (!go) std::this_thread::yield();
      while (!stop) {
        pass(me);
        passages.fetch_add(1);
      }
    });
  no_threads = true;
  go = true;
  EXPECT_TRUE(soon([&] { return refused_threads > 0; })) << "no clock is wanted";
  const long refused_at = passages;
  EXPECT_TRUE(soon([&] { return passages > refused_at + 20'000; })) << "they do not go on with timers";
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - began).count();
  EXPECT_LE(refused_threads, 2 * (seconds + 1));  // a death_watch may want one as well
  no_threads = false;
  EXPECT_TRUE(soon_more(before, 5)) << "it does not come though there is a thread to be had again";
  stop = true;
  for (std::thread& one : members) one.join();
}
#endif

}  // namespace
}  // namespace kgate
