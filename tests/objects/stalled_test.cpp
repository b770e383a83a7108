// SPDX-License-Identifier: Apache-2.0
/// K-1 threads stall for good inside apply, K-1 processes are killed or stopped there, and the others go on.

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <functional>
#include <memory>
#include <new>
#include <random>
#include <thread>
#include <type_traits>
#include <vector>

#include "kgate/resilient.hpp"
#include "objects/halves.hpp"

namespace kgate {
namespace {

using namespace std::chrono_literals;

/// Where a thread stops inside an operation: after so many more calls of apply, its own or another's; -1: never.
thread_local int stalls_after = -1;
/// Whether it has stopped, and whether it may go on.
struct stall {
  std::atomic<int> stopped{0};
  std::atomic<bool> over{false};
};
stall* stalls_at = nullptr;

/// A counter whose operation stops those that were asked to. Reading is an operation like any other here.
struct stalling_counter : counter {
  static bool reads_only(const operation&) noexcept { return false; }
  result apply(const operation& op) noexcept {
    if (stalls_after >= 0 && stalls_after-- == 0) {
      ++stalls_at->stopped;
      while (!stalls_at->over) std::this_thread::sleep_for(1ms);
    }
    return counter::apply(op);
  }
};

/// K-1 of many threads stall, each at another of its calls; the rest make all their operations.
template <int K, class Apply>
void others_finish(int threads, Apply&& apply) {
  constexpr int each = 2000;
  stall here;
  stalls_at = &here;
  std::atomic<int> finished{0};
  {
    std::vector<std::jthread> all;
    for (int t = 0; t < threads; ++t)
      all.emplace_back([&, t] {
        if (t < K - 1) {
          stalls_after = 3 * t;
          while (!here.over) apply(t, counter::add(0));
          return;
        }
        while (here.stopped < K - 1) std::this_thread::yield();
        for (int i = 0; i < each; ++i) apply(t, counter::add(1));
        ++finished;
      });
    const auto begin = std::chrono::steady_clock::now();
    while (finished < threads - (K - 1) && std::chrono::steady_clock::now() - begin < 60s)
      std::this_thread::sleep_for(1ms);
    EXPECT_EQ(here.stopped, K - 1);
    EXPECT_EQ(finished, threads - (K - 1));
    EXPECT_EQ(apply(K - 1, counter::read()), std::int64_t{each} * (threads - (K - 1)));
    here.over = true;
  }
}

TEST(Stalled, WaitFreeGoesOnWithOneThreadLeft) {
  wait_free<stalling_counter, 4> object;
  others_finish<4>(4, [&](int t, const counter::operation& op) { return object.apply(t, op); });
}

template <int K, class Slots>
void others_finish_with_one_slot_left() {
  resilient<stalling_counter, K, Slots> object;
  others_finish<K>(2 * K, [&](int, const counter::operation& op) { return object.apply(op); });
}

TEST(Stalled, ResilientGoesOnWithOneSlotLeft) {
  others_finish_with_one_slot_left<4, word_slots>();
  others_finish_with_one_slot_left<20, word_slots>();
  others_finish_with_one_slot_left<4, healing>();
}
TEST(Stalled, ResilientBehindSlotsGoesOnWithOneSlotLeft) { others_finish_with_one_slot_left<3, slots>(); }

/// No thread waits for those that stall outside, with a block of their own, however many they are.
TEST(Stalled, ResilientGoesOnBesideMoreThanItHasSlots) {
  resilient<stalling_counter, 2> object;
  others_finish<8>(12, [&](int, const counter::operation& op) { return object.apply(op); });
  EXPECT_EQ(object.available(), 2);
}

/// Memory that outlives and is shared by forked processes.
template <class T>
struct shared {
  void* memory = ::mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  T* object = memory == MAP_FAILED ? throw std::bad_alloc() : ::new (memory) T();
  shared() = default;
  shared(const shared&) = delete;
  shared& operator=(const shared&) = delete;
  ~shared() { ::munmap(memory, sizeof(T)); }
  T* operator->() const { return object; }
};

constexpr int K = 4;
constexpr int processes_in_all = 7;

template <class Slots = word_slots>
struct scene {
  resilient<stalling_counter, K, Slots> object;
  stall here;
  std::array<std::atomic<long>, processes_in_all> done{};  // operations whose end the process has seen
};

pid_t start(const std::function<void()>& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    body();
    ::_exit(0);
  }
  return child;
}

bool ends_within(pid_t child, std::chrono::seconds limit) {
  const auto begin = std::chrono::steady_clock::now();
  int status = 0;
  while (::waitpid(child, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() - begin > limit) {
      ::kill(child, SIGKILL);
      ::waitpid(child, &status, 0);
      return false;
    }
    std::this_thread::sleep_for(1ms);
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

template <class Slots>
void work(scene<Slots>& s, int who, long operations) {
  for (long i = 0; i < operations; ++i) {
    s.object.apply(counter::add(1));
    ++s.done[static_cast<std::size_t>(who)];
  }
}

/// What was counted is what was done, and perhaps the one operation of each that was killed.
template <class Slots>
void expect_counted(scene<Slots>& s, long killed = K - 1) {
  long sure = 0;
  for (const auto& one : s.done) sure += one;
  const long counted = static_cast<long>(s.object.apply(counter::read()));
  EXPECT_GE(counted, sure);
  EXPECT_LE(counted, sure + killed);
}

/// As many as there are slots can be inside at once.
template <class Slots>
void expect_all_slots_to_be_had(scene<Slots>& s) {
  stalls_at = &s.here;
  s.here.stopped = 0;
  std::vector<pid_t> all;
  for (int i = 0; i < K; ++i)
    all.push_back(start([&] {
      stalls_after = 0;
      s.object.apply(counter::add(0));
    }));
  const auto begin = std::chrono::steady_clock::now();
  while (s.here.stopped < K && std::chrono::steady_clock::now() - begin < 20s) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(s.here.stopped, K);
  EXPECT_EQ(s.object.available(), 0);
  s.here.over = true;
  for (const pid_t one : all) EXPECT_TRUE(ends_within(one, 60s));
  EXPECT_EQ(s.object.available(), K);
}

template <class Slots>
void goes_on_beside_dead_inside() {
  const shared<scene<Slots>> s;
  stalls_at = &s->here;
  std::vector<pid_t> victims, workers;
  for (int i = 0; i < K - 1; ++i)
    victims.push_back(start([&] {
      stalls_after = 2 * i;
      work(*s.object, i, 1000);
    }));
  while (s->here.stopped < K - 1) std::this_thread::sleep_for(1ms);
  for (const pid_t v : victims) ::kill(v, SIGKILL);
  for (const pid_t v : victims) ::waitpid(v, nullptr, 0);
  // The dead keep their slots; in any order few had one.
  if constexpr (std::is_same_v<Slots, any_order>)
    EXPECT_GE(s->object.available(), 1);
  else
    EXPECT_EQ(s->object.available(), 1);
  for (int i = K - 1; i < processes_in_all; ++i) workers.push_back(start([&] { work(*s.object, i, 5000); }));
  for (const pid_t w : workers) EXPECT_TRUE(ends_within(w, 60s));
  expect_counted(*s.object);
}

TEST(Killed, ProcessesInsideApplyDoNotStopTheOthers) {
  goes_on_beside_dead_inside<word_slots>();
  goes_on_beside_dead_inside<any_order>();
  goes_on_beside_dead_inside<healing>();
}

template <class Slots>
void goes_on_beside_dead_anywhere() {
  std::mt19937 random(7);
  for (int round = 0; round < 20; ++round) {
    const shared<scene<Slots>> s;
    std::vector<pid_t> all;
    for (int i = 0; i < processes_in_all; ++i)
      all.push_back(start([&] { work(*s.object, i, i < K - 1 ? 1'000'000'000 : 5000); }));
    for (int i = 0; i < K - 1; ++i) {
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 3000));
      ::kill(all[static_cast<std::size_t>(i)], SIGKILL);
      ::waitpid(all[static_cast<std::size_t>(i)], nullptr, 0);
    }
    for (int i = K - 1; i < processes_in_all; ++i)
      ASSERT_TRUE(ends_within(all[static_cast<std::size_t>(i)], 60s)) << "round " << round;
    expect_counted(*s.object);
  }
}

TEST(Killed, ProcessesAnywhereDoNotStopTheOthers) {
  goes_on_beside_dead_anywhere<word_slots>();
  goes_on_beside_dead_anywhere<any_order>();
  goes_on_beside_dead_anywhere<healing>();
}

/// Many more than there are slots, one after the other and in bursts, anywhere.
TEST(Killed, AnyNumberOfProcessesLoseNothingOfAnObjectThatHeals) {
  constexpr int kills = 120;
  const shared<scene<healing>> s;
  std::mt19937 random(11);
  std::vector<pid_t> victims(processes_in_all);
  const auto replace = [&](std::size_t i) {
    if (victims[i] != 0) {
      ::kill(victims[i], SIGKILL);
      ::waitpid(victims[i], nullptr, 0);
    }
    victims[i] = start([&] { work(*s.object, static_cast<int>(i), 1'000'000'000); });
  };
  for (std::size_t i = 0; i < victims.size(); ++i) replace(i);
  for (int killed = 0; killed < kills; ++killed) {
    if (random() % 4 != 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 3000));
    replace(random() % victims.size());
  }
  for (const pid_t v : victims) ::kill(v, SIGKILL);
  for (const pid_t v : victims) ::waitpid(v, nullptr, 0);
  expect_counted(*s.object, kills + processes_in_all);
  expect_all_slots_to_be_had(*s.object);
}

/// An operation that was asked to stops half way.
struct stops_if_due {
  void operator()() const noexcept {
    if (stalls_after < 0 || stalls_after-- != 0) return;
    ++stalls_at->stopped;
    while (!stalls_at->over) std::this_thread::sleep_for(1ms);
  }
};
using halves = halves_of<stops_if_due>;

/// What a process had half done when it died is not to be seen, also if the object remembered its last copy for it.
TEST(Killed, HalfAnOperationIsNotSeen) {
  struct halves_scene {
    resilient<halves, 1, healing> one;
    resilient<halves, 2, healing> two;
    resilient<halves, 2> any;
    stall here;
  };
  const shared<halves_scene> s;
  stalls_at = &s->here;
  const auto dies_half_way = [&](auto& object) {
    const int stopped = s->here.stopped;
    const pid_t victim = start([&] {
      object.apply({1});  // so that it has a copy to change in place
      stalls_after = 0;
      object.apply({2});
    });
    while (s->here.stopped == stopped) std::this_thread::sleep_for(1ms);
    ::kill(victim, SIGKILL);
    ::waitpid(victim, nullptr, 0);
    EXPECT_EQ(object.apply({4}), 1);
    EXPECT_EQ(object.apply({0}), 5);
  };
  dies_half_way(s->one);
  dies_half_way(s->two);
  dies_half_way(s->any);
}

TEST(Stopped, ProcessesGoOnWhereTheyWere) {
  const shared<scene<>> s;
  std::vector<pid_t> all;
  for (int i = 0; i < processes_in_all; ++i) all.push_back(start([&] { work(*s.object, i, 20000); }));
  for (int i = 0; i < K - 1; ++i) ::kill(all[static_cast<std::size_t>(i)], SIGSTOP);
  for (int i = K - 1; i < processes_in_all; ++i) EXPECT_TRUE(ends_within(all[static_cast<std::size_t>(i)], 60s));
  for (int i = 0; i < K - 1; ++i) ::kill(all[static_cast<std::size_t>(i)], SIGCONT);
  for (int i = 0; i < K - 1; ++i) EXPECT_TRUE(ends_within(all[static_cast<std::size_t>(i)], 60s));
  EXPECT_EQ(s->object.apply(counter::read()), 20000 * processes_in_all);
}

}  // namespace
}  // namespace kgate
