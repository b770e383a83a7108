// SPDX-License-Identifier: Apache-2.0
/// The clock that stands for the timers of a process whose waits are many and short: it is there while they are, no
/// longer, and a doze under it does not outlast the death of who is inside.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <new>
#include <thread>
#include <vector>

#include "gate/faults/scratch.hpp"
#include "kgate/gate.hpp"

namespace kgate {
namespace {

using namespace std::chrono_literals;

std::ptrdiff_t threads_of_this_process() {
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

gate strict_gate(const faults::scratch& where) {
  gate_options options;
  options.directory = where.path();
  options.overtakings = 0;
  return gate("clocked", 1, options);
}

void pass(gate::member& me) {
  me.enter();
  me.leave();
}

TEST(doze_clock, comes_with_many_short_waits_and_goes_with_them) {
  const faults::scratch where;
  gate shared = strict_gate(where);
  const auto before = threads_of_this_process();
  std::atomic<bool> stop{false};
  std::vector<std::thread> members;
  for (int i = 0; i < 4; ++i)
    members.emplace_back([&] {
      gate::member me = shared.join();
      while (!stop) pass(me);
    });
  EXPECT_TRUE(soon([&] { return threads_of_this_process() == before + 5; })) << "no clock";
  stop = true;
  for (std::thread& one : members) one.join();
  EXPECT_TRUE(soon([&] { return threads_of_this_process() == before; })) << "the clock goes on though nobody waits";
  EXPECT_EQ(shared.status().free, 1);
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

}  // namespace
}  // namespace kgate
