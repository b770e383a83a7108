// SPDX-License-Identifier: Apache-2.0
// How long the next waiter waits when another is killed.
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <iterator>

#include "gate/faults/every_instruction.hpp"

namespace kgate::faults {
namespace {

struct spread {
  double median;
  double worst;
};

spread spread_of(std::vector<double> ms) {
  std::sort(ms.begin(), ms.end());
  return {ms[ms.size() / 2], ms.back()};
}

/// A process that holds or waits for the only slot until it is killed.
struct occupant {
  occupant(const scratch& where, bool waits)
      : process([&where] {
          gate its = where.open("gate", 0, "occupant");
          gate::member member = its.join();
          mark();
          member.enter();
          for (;;) pause();
        }) {
    gate view = where.open("gate");
    const gate_status before = view.status();
    EXPECT_TRUE(process.run_to_mark());
    process.let_run();
    const auto there = [&](const gate_status& now) {
      return waits ? now.waiters.size() > before.waiters.size() : now.holders.size() > before.holders.size();
    };
    while (!there(view.status())) std::this_thread::yield();
  }
  traced_process process;
};

/// This machine may be busy, and its cores may be taken away for milliseconds: the best of three rounds counts.
template <class Round>
void expect_prompt(const char* what, Round&& round) {
  spread best{1e9, 1e9};
  for (int attempt = 0; attempt < 3 && (best.median > 5 || best.worst > 50); ++attempt) {
    std::vector<double> ms;
    for (int i = 0; i < 40; ++i) ms.push_back(round(i));
    const spread now = spread_of(ms);
    if (now.worst < best.worst) best = now;
  }
  std::printf("%s: %.2f ms (median), %.2f ms (worst)\n", what, best.median, best.worst);
  EXPECT_LE(best.median, 5);
  EXPECT_LE(best.worst, 50);
}

double until_inside(bystander& next, clock::time_point from) {
  const std::optional<double> waited = next.entered_ms_after(from);
  EXPECT_TRUE(waited.has_value());
  if (!waited) std::_Exit(1);
  next.leave();
  return *waited;
}

TEST(recovery, after_a_holder_is_killed) {
  expect_prompt("holder killed", [](int i) {
    const scratch where;
    { const gate created = where.open("gate", 1); }
    occupant holder(where, false);
    bystander next(where, "gate");
    next.queue_up();
    usleep(static_cast<useconds_t>(500 + i * 137));
    const auto killed = clock::now();
    holder.process.kill_now();
    return until_inside(next, killed);
  });
}

TEST(recovery, after_the_head_of_the_queue_is_killed) {
  expect_prompt("head of the queue killed, then the holder leaves", [](int i) {
    const scratch where;
    { const gate created = where.open("gate", 1); }
    bystander holder(where, "gate");
    holder.enter();
    occupant head(where, true);
    bystander next(where, "gate");
    next.queue_up();
    usleep(static_cast<useconds_t>(500 + i * 137));
    const auto killed = clock::now();
    head.process.kill_now();
    holder.leave();
    return until_inside(next, killed);
  });
}

bool comes_to_have_threads(std::ptrdiff_t count) {
  const auto limit = clock::now() + std::chrono::seconds(5);
  const auto now = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/task"), std::filesystem::directory_iterator());
  };
  while (now() != count && clock::now() < limit) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return now() == count;
}

/// One inside has no thread besides its own, by which it would take longer to end; and waits again as before.
TEST(recovery, the_thread_that_watches_ends_with_the_wait) {
  const scratch where;
  gate its = where.open("gate", 1, "waiter");
  gate::member member = its.join();
  for (int round = 0; round < 3; ++round) {
    occupant holder(where, false);
    std::thread waits([&] { member.enter(); });
    EXPECT_TRUE(comes_to_have_threads(3)) << "it watches nobody";
    holder.process.kill_now();
    waits.join();
    EXPECT_TRUE(comes_to_have_threads(1)) << "the thread stays";
    member.leave();
  }
}

TEST(recovery, a_stopped_holder_keeps_its_slot_and_a_stopped_waiter_its_position) {
  const scratch where;
  { const gate created = where.open("gate", 1); }
  occupant holder(where, false);
  occupant head(where, true);
  EXPECT_TRUE(holder.process.interrupt());
  EXPECT_TRUE(head.process.interrupt());
  bystander last(where, "gate");
  last.queue_up();
  usleep(100'000);
  gate view = where.open("gate");
  const gate_status now = view.status();
  EXPECT_EQ(now.holders.size(), 1U);
  EXPECT_EQ(now.waiters.size(), 2U);
  EXPECT_EQ(now.healed, 0U);
  EXPECT_FALSE(last.entered());
  const auto killed = clock::now();
  holder.process.kill_now();
  usleep(100'000);
  EXPECT_FALSE(last.entered()) << "passed a stopped waiter";
  head.process.kill_now();
  until_inside(last, killed);
}

}  // namespace
}  // namespace kgate::faults
