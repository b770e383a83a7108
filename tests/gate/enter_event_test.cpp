// SPDX-License-Identifier: Apache-2.0
// Members that wait although no thread of the program does: order, ends of a wait, deaths, forks, and that nothing is
// done while nothing happens.
#include "kgate/enter_event.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <deque>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "gate/core.hpp"
#include "gate/faults/scratch.hpp"

namespace kgate {
namespace {

using namespace std::chrono_literals;
using faults::expect_whole;
using faults::scratch;

bool readable(const enter_event& e, int milliseconds = 20'000) {
  pollfd watched{e.descriptor(), POLLIN, 0};
  return ::poll(&watched, 1, milliseconds) == 1;
}

TEST(enter_event, is_readable_once_it_is_inside) {
  const scratch where;
  gate g = where.open("g", 1);
  enter_event first(g), second(g);
  ASSERT_TRUE(first.ended() && readable(first, 0));
  EXPECT_FALSE(second.ended() || readable(second, 10));
  EXPECT_EQ(g.status().waiters.size(), 1U);
  {
    std::optional<gate::permit> inside = first.take();
    ASSERT_TRUE(inside);
    EXPECT_EQ(inside->slot(), 0);
    EXPECT_FALSE(readable(second, 10));
  }
  ASSERT_TRUE(readable(second));
  EXPECT_TRUE(second.ended());
  EXPECT_TRUE(second.take());
  expect_whole(where, "g", 1);
}

TEST(enter_event, waits_in_one_queue_with_threads) {
  const scratch where;
  gate_options strict = where.options();
  strict.overtakings = 0;
  gate g("g", 1, strict);
  std::optional<gate::permit> holder = g.enter();
  enter_event before(g);
  std::atomic<int> passed{0};
  std::thread between([&] {
    const gate::permit permit = g.enter();
    passed = 1;
    std::this_thread::sleep_for(20ms);
    passed = 2;
  });
  while (g.status().waiters.size() < 2) std::this_thread::yield();
  enter_event after(g);
  holder.reset();
  ASSERT_TRUE(readable(before));
  EXPECT_EQ(passed.load(), 0);
  before.take().reset();
  ASSERT_TRUE(readable(after));
  EXPECT_EQ(passed.load(), 2);
  between.join();
}

TEST(enter_event, gives_back_what_nobody_takes) {
  const scratch where;
  gate g = where.open("g", 1);
  {
    const enter_event inside(g), queued(g);
    EXPECT_TRUE(inside.ended());
  }
  {
    std::optional<gate::permit> holder = g.enter();
    const enter_event granted_later(g);
    holder.reset();
    ASSERT_TRUE(readable(granted_later));
  }
  EXPECT_EQ(g.status().free, 1);
  expect_whole(where, "g", 1);
}

TEST(enter_event, ends_by_cancel_and_by_time) {
  const scratch where;
  gate g = where.open("g", 1);
  const gate::permit holder = g.enter();
  enter_event cancelled(g), late(g, 30ms), at_once(g, 0s);
  ASSERT_TRUE(readable(at_once, 1000));
  EXPECT_FALSE(at_once.take());
  cancelled.cancel();
  ASSERT_TRUE(cancelled.ended() && readable(cancelled, 0));
  EXPECT_FALSE(cancelled.take());
  ASSERT_TRUE(readable(late));
  EXPECT_FALSE(late.take());
  EXPECT_TRUE(g.status().waiters.empty());
}

TEST(enter_event, learns_that_the_gate_is_removed_or_too_small) {
  const scratch where;
  gate g = where.open("g", 2);
  std::optional<gate::permit> holder = g.enter(2);
  enter_event heavy(g, 2);
  g.resize(1);
  holder.reset();
  ASSERT_TRUE(readable(heavy));
  EXPECT_THROW(static_cast<void>(heavy.take()), gate_error);
  EXPECT_THROW(enter_event(g, 2), gate_error);
  holder = g.enter();
  enter_event waits(g);
  g.remove(true);
  ASSERT_TRUE(readable(waits));
  EXPECT_THROW(static_cast<void>(waits.take()), gate_error);
}

/// A child that is inside until it is killed.
pid_t child_inside(const scratch& where) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    gate g = where.open("g", 1);
    const gate::permit inside = g.enter();
    if (write(ends[1], "", 1) != 1) _exit(1);
    for (;;) pause();
  }
  char byte = 0;
  EXPECT_EQ(read(ends[0], &byte, 1), 1);
  close(ends[0]);
  close(ends[1]);
  return child;
}

TEST(enter_event, goes_on_when_the_holder_is_killed) {
  const scratch where;
  for (const auto waited : {0ms, 60ms}) {  // while it dozes, and while it watches
    const pid_t child = child_inside(where);
    gate g = where.open("g", 1);
    enter_event first(g), second(g);
    std::this_thread::sleep_for(waited);
    EXPECT_FALSE(first.ended());
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    ASSERT_TRUE(readable(first));
    first.take().reset();
    ASSERT_TRUE(readable(second));
  }
  expect_whole(where, "g", 1);
}

TEST(enter_event, is_the_parents_in_a_child) {
  const scratch where;
  gate g = where.open("g", 1);
  std::optional<gate::permit> holder = g.enter();
  auto waits = std::make_unique<enter_event>(g);
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    waits->cancel();
    const bool still_waits = !waits->ended();
    waits.reset();
    std::exit(still_waits ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(g.status().waiters.size(), 1U);
  holder.reset();
  ASSERT_TRUE(readable(*waits));
  EXPECT_TRUE(waits->take());
}

[[maybe_unused]] long switches() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return used.ru_nvcsw;
}

// 300 of them are more than one thread of the library sleeps for.
TEST(enter_event, three_hundred_sleep_until_something_happens) {
  const scratch where;
  gate g = where.open("g", 1);
  std::optional<gate::permit> holder = g.enter();
  std::deque<enter_event> waiting;
  for (int i = 0; i < 300; ++i) waiting.emplace_back(g);
#if !defined(__SANITIZE_THREAD__)  // it has a thread of its own that wakes up now and then
  long woken = 3;
  for (int tries = 0; tries < 40 && woken > 2; ++tries) {  // until all of them watch; this thread's own sleep is one
    const long before = switches();
    std::this_thread::sleep_for(500ms);
    woken = switches() - before;
  }
  EXPECT_LE(woken, 2);
#endif
  holder.reset();
  for (enter_event& e : waiting) {
    ASSERT_TRUE(readable(e));
    EXPECT_TRUE(e.take());  // and leaves
  }
  expect_whole(where, "g", 1);
}

// Many that queue up, give up and go inside, beside threads: at most k at a time, and none is forgotten.
TEST(enter_event, stress_beside_threads) {
  const scratch where;
  gate g = where.open("g", 2);
  std::atomic<int> inside{0};
  std::atomic<bool> over{false};
  const auto pass = [&](gate::permit) {
    EXPECT_LE(inside.fetch_add(1) + 1, 2);
    std::this_thread::yield();
    inside.fetch_sub(1);
  };
  std::thread blocking([&] {
    gate::member m = g.join();
    while (!over) {
      m.enter();
      EXPECT_LE(inside.fetch_add(1) + 1, 2);
      inside.fetch_sub(1);
      m.leave();
      std::this_thread::sleep_for(50us);
    }
  });
  std::minstd_rand random(7);
  for (int round = 0; round < 1500; ++round) {
    std::deque<enter_event> some;
    for (unsigned i = 0, n = 1 + random() % 4; i < n; ++i)
      random() % 4 == 0 ? some.emplace_back(g, std::chrono::microseconds(random() % 300)) : some.emplace_back(g);
    for (enter_event& e : some) {
      if (random() % 3 == 0) e.cancel();
      ASSERT_TRUE(readable(e));
      if (auto got = e.take()) pass(std::move(*got));
    }
  }
  over = true;
  blocking.join();
  EXPECT_TRUE(g.status().holders.empty() && g.status().waiters.empty());
  expect_whole(where, "g", 2);
}

}  // namespace
}  // namespace kgate
