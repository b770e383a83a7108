// SPDX-License-Identifier: Apache-2.0
// Virtual times that can be added up by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <stdexcept>
#include <vector>

#include "lab/multiprocessor/machine.hpp"

namespace kgate::lab {
namespace {

using Process = timed_machine::Process;
template <class T>
using Var = timed_machine::Var<T>;
using Data = timed_machine::Data<std::uint64_t>;

constexpr nanoseconds step = 10, local = 1, remote = 100, occupied = 40, rmw = 1000, quantum = 100'000, change = 5'000;
constexpr machine_costs bus{.name = "cc",
                            .model = memory_model::cc_writeback,
                            .one_bus = true,
                            .words_per_line = 2,
                            .step = step,
                            .local = local,
                            .remote = remote,
                            .occupied = occupied,
                            .rmw = rmw,
                            .quantum = quantum,
                            .context_switch = change};
constexpr machine_costs modules = [] {
  machine_costs costs = bus;
  costs.name = "dsm";
  costs.model = memory_model::dsm;
  costs.one_bus = false;
  costs.words_per_line = 1;
  return costs;
}();

TEST(Costs, ACacheKeepsWhatItHasRead) {
  multiprocessor on(bus, 1, 1, 1);
  Var<int> x(on, {}, 0);
  on.run([&](int t) {
    Process p(pid(t), on);
    x.read(p);      // remote
    x.read(p);      // local
    x.write(p, 1);  // remote: the copy was a shared one
    x.write(p, 2);  // local: now it is exclusive
    x.fetch_add(p, 1);
  });
  EXPECT_EQ(on.so_far().remote, 2u);
  EXPECT_EQ(on.so_far().time, 5 * step + 2 * remote + 3 * local + rmw);
}

TEST(Costs, AWriteTakesTheCopiesOfOthersAway) {
  multiprocessor on(bus, 2, 2, 1);
  Var<int> x(on, {}, 0), turn(on, {}, 0);
  on.run([&](int t) {
    Process p(pid(t), on);
    for (int i = 0; i < 4; ++i) {
      turn.await(p, [&](int now) { return now == 2 * i + t; });
      x.fetch_add(p, 1);
      turn.write(p, 2 * i + t + 1);
    }
  });
  // Each of the eight additions finds the line with the other, and the turn is read once after each hand-over.
  EXPECT_GE(on.so_far().remote, 8u + 7u);
}

TEST(Costs, WordsOfALineComeTogether) {
  multiprocessor on(bus, 1, 1, 1);
  Data a(on, {}, 0), b(on, {}, 0), c(on, {}, 0);
  on.run([&](int t) {
    Process p(pid(t), on);
    a.read(p), b.read(p), c.read(p);
  });
  EXPECT_EQ(on.so_far().remote, 2u);
}

TEST(Costs, MemoryOfItsOwnIsLocal) {
  multiprocessor on(modules, 2, 2, 1);
  Var<int> mine(on, {.home = pid(0)}, 0), theirs(on, {.home = pid(1)}, 0);
  on.run([&](int t) {
    if (t != 0) return;
    Process p(pid(t), on);
    mine.write(p, 1), mine.read(p), theirs.read(p), theirs.read(p);
  });
  EXPECT_EQ(on.so_far().remote, 2u);
  EXPECT_EQ(on.so_far().time, 4 * step + 2 * local + 2 * remote);
}

TEST(Costs, ABusServesOneAtATime) {
  constexpr int processors = 8;
  multiprocessor on(bus, processors, processors, 1);
  std::vector<std::unique_ptr<Var<int>>> x;
  for (int i = 0; i < processors; ++i) x.push_back(std::make_unique<Var<int>>(on, variable{}, 0));
  on.run([&](int t) {
    Process p(pid(t), on);
    x[static_cast<std::size_t>(t)]->read(p);
  });
  EXPECT_EQ(on.so_far().time, step + (processors - 1) * occupied + remote);
  EXPECT_EQ(on.so_far().queued, processors * (processors - 1) / 2 * occupied);
}

TEST(Turns, ProcessesOfOneProcessorShareItsTime) {
  multiprocessor on(modules, 1, 3, 1);
  constexpr int reads = 20'000;
  std::vector<int> order;
  Var<int> x(on, {.home = pid(0)}, 0);
  on.run([&](int t) {
    Process p(pid(t), on);
    for (int i = 0; i < reads; ++i) x.read(p);
    order.push_back(t);
  });
  constexpr nanoseconds work = 3 * reads * (step + local);
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2}));
  EXPECT_GE(on.so_far().preemptions, static_cast<std::uint64_t>(work / quantum - 1));
  EXPECT_GT(on.so_far().time, work);
  EXPECT_LT(on.so_far().time, work + (work / quantum + 4) * change);
}

TEST(Turns, AWaiterBurnsItsTurnAndGoesOnInIt) {
  // Processes 0 and 2 share processor 0: 0 waits for 1, 2 computes. What 1 writes soon reaches 0 in the same turn.
  multiprocessor on(modules, 2, 3, 7);
  Var<int> x(on, {.home = pid(0)}, 0);
  std::vector<int> order;
  on.run([&](int t) {
    Process p(pid(t), on);
    if (t == 1) {
      for (int i = 0; i < 10; ++i) x.read(p);
      x.write(p, 1);
    } else if (t == 0) {
      x.await(p, [](int v) { return v == 1; });
    } else {
      x.read(p);
    }
    order.push_back(t);
  });
  EXPECT_EQ(order, (std::vector<int>{1, 0, 2}));
  EXPECT_LT(on.so_far().time, 2 * (quantum + change));
}

TEST(Turns, APreemptedHolderMakesOthersWait) {
  // Both processors have two processes each; all pass a lock. Some holder loses its processor inside, and the lock
  // stays taken.
  const auto time = [](int processes) {
    multiprocessor on(modules, 2, processes, 3);
    Var<bool> lock(on, {}, false);
    Var<int> x(on, {}, 0);
    on.run([&](int t) {
      Process p(pid(t), on);
      for (int i = 0; i < 4'000 / processes; ++i) {
        while (lock.test_and_set(p)) lock.await(p, [](bool taken) { return !taken; });
        for (int j = 0; j < 20; ++j) x.read(p);
        lock.write(p, false);
      }
    });
    return on.so_far().time;
  };
  EXPECT_GT(time(8), time(2) * 3 / 2);
}

TEST(Turns, WaitingForNobodyIsSeen) {
  multiprocessor on(modules, 1, 1, 1);
  Var<int> x(on, {}, 0);
  EXPECT_THROW(on.run([&](int t) {
    Process p(pid(t), on);
    x.await(p, [](int v) { return v == 1; });
  }),
               std::logic_error);
}

TEST(Turns, AnyOfSeveralEndsAWait) {
  multiprocessor on(bus, 3, 3, 1);
  Var<int> a(on, {}, 0), b(on, {}, 0);
  std::size_t found = 9;
  on.run([&](int t) {
    Process p(pid(t), on);
    if (t == 0)
      found = timed_machine::await_any(
          p, 2, [&](std::size_t i) -> Var<int>& { return i == 0 ? a : b; }, [](std::size_t, int v) { return v == 2; });
    else
      for (int i = 1; i <= 2; ++i) (t == 1 ? a : b).write(p, t == 1 ? 1 : i);
  });
  EXPECT_EQ(found, 1u);
}

TEST(Turns, TheSeedDeterminesARun) {
  const auto time = [](std::uint64_t seed) {
    multiprocessor on(bus, 4, 12, seed);
    Var<int> x(on, {}, 0);
    on.run([&](int t) {
      Process p(pid(t), on);
      for (int i = 0; i < 500; ++i) x.fetch_add(p, 1);
    });
    return on.so_far().time;
  };
  EXPECT_EQ(time(5), time(5));
  EXPECT_NE(time(5), time(6));
}

TEST(Timeline, GivesTheEarliestOfAll) {
  timeline events(5);
  EXPECT_TRUE(events.empty());
  std::vector<nanoseconds> now(5, timeline::never);
  std::mt19937_64 random(1);
  for (int i = 0; i < 2'000; ++i) {
    const auto who = static_cast<std::size_t>(random() % 5);
    now[who] = random() % 4 == 0 ? timeline::never : static_cast<nanoseconds>(random() % 1'000);
    events.set(static_cast<int>(who), now[who]);
    const nanoseconds earliest = *std::min_element(now.begin(), now.end());
    ASSERT_EQ(events.time(), earliest);
    ASSERT_EQ(events.empty(), earliest == timeline::never);
    if (events.empty()) continue;
    const auto first = static_cast<std::size_t>(events.processor());
    ASSERT_EQ(now[first], earliest);
    std::vector<nanoseconds> others = now;
    others[first] = timeline::never;
    ASSERT_EQ(events.next_of_others(), *std::min_element(others.begin(), others.end()));
  }
}

TEST(Timeline, OfTwoAtATimeTheFirstPlannedComesFirst) {
  timeline events(3);
  for (const int who : {2, 0, 1}) events.set(who, 7);
  for (const int who : {2, 0, 1}) {
    EXPECT_EQ(events.processor(), who);
    events.set(who, timeline::never);
  }
  EXPECT_TRUE(events.empty());
}

TEST(Turns, EndEarlyWhenStopped) {
  multiprocessor on(bus, 2, 4, 1);
  Var<int> x(on, {}, 0);
  int unwound = 0;
  struct counted {
    int& count;
    ~counted() { ++count; }
  };
  on.run([&](int t) {
    const counted mine{unwound};
    Process p(pid(t), on);
    for (;;)
      if (x.fetch_add(p, 1) == 100) on.stop();
  });
  EXPECT_GT(unwound, 1);  // all that had begun; no objects are left behind
  EXPECT_LT(on.so_far().accesses, 200u);
}

}  // namespace
}  // namespace kgate::lab
