// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Kills a participant after each of its instructions in turn, and looks at what it left behind.

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "gate/core.hpp"
#include "gate/faults/scratch.hpp"
#include "gate/faults/traced_process.hpp"

namespace kgate::faults {

using clock = std::chrono::steady_clock;

/// Another one at the gate, in a thread with an opening of its own, so that to the kernel it is another participant.
class bystander {
 public:
  bystander(const scratch& where, const char* name) : gate_(where.open(name, 0, "bystander")), member_(gate_.join()) {}
  bystander(const bystander&) = delete;
  bystander& operator=(const bystander&) = delete;
  ~bystander() {
    if (thread_.joinable()) thread_.join();
  }
  void enter() { member_.enter(); }
  void leave() { member_.leave(); }
  /// Queues up; returns when it is in the queue.
  void queue_up() {
    const std::size_t before = gate_.status().waiters.size();
    thread_ = std::thread([this] {
      member_.enter();
      entered_at_ = clock::now();
      entered_.store(true);
    });
    while (!entered_.load() && gate_.status().waiters.size() <= before) std::this_thread::yield();
  }
  /// How long after `from` it got in; nothing if it did not.
  std::optional<double> entered_ms_after(clock::time_point from) {
    const auto limit = clock::now() + std::chrono::seconds(5);
    while (!entered_.load() && clock::now() < limit) std::this_thread::sleep_for(std::chrono::microseconds(50));
    if (!entered_.load()) return std::nullopt;
    thread_.join();
    return std::chrono::duration<double, std::milli>(entered_at_ - from).count();
  }
  bool entered() const { return entered_.load(); }

 private:
  gate gate_;
  gate::member member_;
  std::thread thread_;
  std::atomic<bool> entered_{false};
  clock::time_point entered_at_;
};

/// One role of the victim.
struct scenario {
  const char* name = "";
  int k = 1;
  /// The size that the victim sets; 0 if it sets none.
  int resizes_to = 0;
  /// The victim removes the gate.
  bool removes = false;
  /// The victim takes a holder out that is another process and stays alive.
  bool dismisses = false;
  /// A holder that stays inside until the victim is dead.
  bool holder = false;
  /// Another goes in and out when the victim is about to act: what it last made of the word is no longer true.
  bool passer_by = false;
  /// Another one queued: in front of the victim or behind it. It must get in.
  bool waiter_before = false;
  bool waiter_after = false;
  /// Members that died inside or queued before the victim begins.
  int dead_inside = 0;
  int dead_waiting = 0;
  /// What the victim does before and between its marks.
  std::function<void(gate&, gate::member&)> prepare{};
  std::function<void(gate&, gate::member&)> act{};
  /// The victim is left alone in act() until it sleeps in the queue; then the holder leaves, and stepping begins.
  bool grant_first = false;
  /// Stop here: what follows repeats itself (a waiter's sleep and look).
  std::size_t steps_max = 100'000;
};

/// A process that gets inside, or queues up, and is killed there.
inline void leave_a_corpse(const scratch& where, const char* name, bool inside) {
  traced_process corpse([&] {
    gate its = where.open(name, 0, "corpse");
    gate::member member = its.join();
    if (inside) {
      member.enter();
      mark();
    } else {
      mark();
      member.enter();
    }
  });
  ASSERT_TRUE(corpse.run_to_mark());
  if (!inside) {
    gate view = where.open(name);
    const std::size_t before = view.status().waiters.size();
    corpse.let_run();
    while (view.status().waiters.size() <= before) std::this_thread::yield();
  }
  corpse.kill_now();
}

/// What the victim does that dismisses the only holder.
inline void dismiss_the_holder(const scratch& where, const char* name) {
  detail::gates::location here;
  here.directory = where.path();
  detail::gates::core gate;
  detail::gates::membership mine;
  if (gate.open(name, 0, here) || gate.join("victim", mine)) std::_Exit(1);
  const detail::gates::snapshot seen = detail::gates::take_snapshot(gate.cells().map());
  mark();
  gate.dismiss(mine, seen.holders.front());
  mark();
}

/// Whether the one that was to be dismissed is still inside. Only looks: nothing that could help another.
inline bool still_inside(const scratch& where, const char* name, const bystander& waiter) {
  detail::gates::location here;
  here.directory = where.path();
  detail::gates::segment file;
  EXPECT_FALSE(file.open_read_only(name, here));
  const auto limit = clock::now() + std::chrono::seconds(5);
  while (!waiter.entered() && clock::now() < limit) {
    const detail::gates::snapshot seen = detail::gates::take_snapshot(file.map());
    if (seen.settled && !seen.waiters.empty() && seen.free <= 0) return true;
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  return false;
}

struct tally {
  std::size_t kills = 0;
  std::vector<std::size_t> path;  ///< where the victim was after 0, 1, 2 ... instructions, in its last life
  std::vector<double> waited_ms;
};

/// How a victim comes to the instruction at which it is killed.
enum class way {
  recorded,  ///< one instruction after the other, and where it was is written down
  stepped,   ///< one instruction after the other
  run        ///< at full speed, to an instruction of the recorded way
};

/// The last of the recorded instructions, by its address and how often the victim comes to it on its way.
inline bool run_to_last(traced_process& victim, const tally& recorded, std::size_t steps) {
  const std::size_t address = recorded.path[steps];
  const auto way = recorded.path.begin();
  return victim.run_to(address,
                       static_cast<int>(std::count(way, way + static_cast<std::ptrdiff_t>(steps) + 1, address)));
}

/// One life: the victim is killed after `steps` instructions. False if it did not come so far.
inline bool one_death(const scenario& role, std::size_t steps, tally& out, way how) {
  const scratch where;
  constexpr const char* name = "gate";
  { const gate created = where.open(name, role.k); }
  for (int i = 0; i < role.dead_inside; ++i) leave_a_corpse(where, name, true);
  std::optional<bystander> holder, before, after;
  std::optional<traced_process> dismissed;
  if (role.dismisses) {
    dismissed.emplace([&] {
      gate its = where.open(name, 0, "holder");
      const gate::permit permit = its.enter();
      mark();
      for (;;) pause();
    });
    EXPECT_TRUE(dismissed->run_to_mark());
    dismissed->let_run();
  }
  if (role.holder) holder.emplace(where, name).enter();
  for (int i = 0; i < role.dead_waiting; ++i) leave_a_corpse(where, name, false);
  traced_process victim([&] {
    if (role.dismisses) return dismiss_the_holder(where, name);
    gate its = where.open(name, 0, "victim");
    gate::member member = its.join();
    if (role.prepare) role.prepare(its, member);
    mark();
    role.act(its, member);
    mark();
  });
  EXPECT_TRUE(victim.run_to_mark());
  if (role.passer_by) {
    bystander other(where, name);
    other.enter();
    other.leave();
  }
  if (role.waiter_before) before.emplace(where, name).queue_up();
  if (role.grant_first) {
    gate view = where.open(name);
    const std::size_t waiting = view.status().waiters.size();
    victim.let_run();
    while (view.status().waiters.size() <= waiting) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::microseconds(300));
    EXPECT_TRUE(victim.interrupt());
    if (role.waiter_after) after.emplace(where, name).queue_up();
    holder->leave();
    holder.reset();
  } else if (role.waiter_after && role.holder) {
    after.emplace(where, name);
  }
  bool finished = false;
  victim.share_core();
  if (how == way::run) finished = !run_to_last(victim, out, steps);
  for (std::size_t i = 0; i < steps && !finished && how != way::run; ++i) {
    if (how == way::recorded) out.path.push_back(victim.instruction());
    finished = victim.step() != traced_process::step_result::stepped;
  }
  victim.kill_now();
  const auto died = clock::now();
  if (holder) {
    if (after) after->queue_up();
    EXPECT_FALSE(role.k == 1 && role.resizes_to == 0 && ((before && before->entered()) || (after && after->entered())))
        << "entered beside the holder";
    holder->leave();
  }
  if (dismissed && still_inside(where, name, *before)) dismissed->kill_now();
  const auto freed = holder || dismissed ? clock::now() : died;
  for (std::optional<bystander>* other : {&before, &after}) {
    if (!*other) continue;
    const std::optional<double> waited = (*other)->entered_ms_after(freed);
    EXPECT_TRUE(waited.has_value()) << "a survivor never got in";
    if (!waited) std::_Exit(1);  // its thread cannot be joined
    out.waited_ms.push_back(*waited);
    (*other)->leave();
  }
  if (role.removes) where.open(name, role.k);  // there is none, or a whole one
  const int k = where.open(name).slots();
  EXPECT_TRUE(k == role.k || (role.resizes_to != 0 && k == role.resizes_to)) << k;
  expect_whole(where, name, k);
  ++out.kills;
  return !finished;
}

/// Kills the victim at each instruction of its way. An instruction that it comes to many times (in a loop) counts its
/// first `visits_max` times. To those far away it runs at full speed, and is stepped only if it does not come there so.
inline tally kill_at_every_instruction(const scenario& role, int visits_max = 2) {
  tally out;
  one_death(role, role.steps_max, out, way::recorded);
  std::map<std::size_t, int> visits;
  constexpr std::size_t far = 2000;  // instructions: to fork a victim takes as long as to step so many
  std::size_t stepped = 0;
  for (std::size_t steps = 0; steps < out.path.size(); ++steps) {
    if (++visits[out.path[steps]] > visits_max) continue;
    SCOPED_TRACE(std::string(role.name) + ", killed after " + std::to_string(steps) + " instructions");
    if (steps <= far || !one_death(role, steps, out, way::run)) {
      ++stepped;
      one_death(role, steps, out, way::stepped);
    }
    if (testing::Test::HasFailure()) break;
  }
  std::printf("%s: %zu instructions; killed %zu times, at %zu different ones, %zu of them step by step", role.name,
              out.path.size(), out.kills, visits.size(), stepped);
  if (!out.waited_ms.empty()) {
    std::sort(out.waited_ms.begin(), out.waited_ms.end());
    std::printf("; the next was inside after %.2f ms (median), %.2f ms (worst)",
                out.waited_ms[out.waited_ms.size() / 2], out.waited_ms.back());
  }
  std::printf("\n");
  return out;
}

}  // namespace kgate::faults
