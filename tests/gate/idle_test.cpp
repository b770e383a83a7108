// SPDX-License-Identifier: Apache-2.0
/// Members that wait for long do nothing at all: nothing is woken, neither a waiter nor a thread of the library.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "gate/faults/scratch.hpp"
#include "kgate/gate.hpp"

namespace kgate {
namespace {

constexpr int waiters = 200;

/// How often the threads of a process have gone to sleep.
long sleeps_of(pid_t process) {
  long sum = 0;
  std::error_code ended;
  const std::string tasks = "/proc/" + std::to_string(process) + "/task";
  for (const auto& task : std::filesystem::directory_iterator(tasks, ended)) {
    std::ifstream status(task.path() / "status");
    const std::string key = "voluntary_ctxt_switches:";
    for (std::string line; std::getline(status, line);)
      if (line.compare(0, key.size(), key) == 0) sum += std::stol(line.substr(key.size()));
  }
  return sum;
}

/// Whether there comes a time of two seconds in which none of them wakes. One that looked now and then would wake in
/// each.
void expect_rest(const std::vector<pid_t>& processes) {
  using clock = std::chrono::steady_clock;
  const auto limit = clock::now() + std::chrono::seconds(60);
  const auto all = [&] {
    long sum = 0;
    for (const pid_t one : processes) sum += sleeps_of(one);
    return sum;
  };
  long before = all(), now = before;
  do {
    before = now;
    std::this_thread::sleep_for(std::chrono::seconds(2));
    now = all();
  } while (now != before && clock::now() < limit);
  EXPECT_EQ(now - before, 0) << "wake-ups in the last two seconds";
}

pid_t spawn(const faults::scratch& where, int members) {
  const pid_t child = fork();
  if (child != 0) return child;
  gate its = where.open("gate");
  std::vector<std::thread> threads;
  for (int i = 1; i < members; ++i) threads.emplace_back([&] { static_cast<void>(its.enter()); });
  const gate::permit inside = its.enter();
  for (;;) pause();
}

void expect_idle_waiters(int processes) {
  const faults::scratch where;
  gate view = where.open("gate", 1);
  const pid_t holder = spawn(where, 1);
  while (view.status().holders.empty()) usleep(1000);
  std::vector<pid_t> children;
  for (int i = 0; i < processes; ++i) children.push_back(spawn(where, waiters / processes));
  while (view.status().waiters.size() < waiters) usleep(10'000);
  expect_rest(children);
  children.push_back(holder);
  for (const pid_t one : children) kill(one, SIGKILL);
  for (const pid_t one : children) waitpid(one, nullptr, 0);
}

/// What the processes of a crowd share besides the gate.
struct board {
  std::atomic<bool> stay{false};
  std::atomic<long> passages{0};
};

pid_t spawn_crowd(const faults::scratch& where, int members, board& shared) {
  const pid_t child = fork();
  if (child != 0) return child;
  gate its = where.open("gate");
  std::vector<std::thread> threads;
  for (int i = 0; i < members; ++i)
    threads.emplace_back([&] {
      for (gate::member me = its.join();; me.leave()) {
        me.enter();
        shared.passages.fetch_add(1);
        while (shared.stay) pause();
      }
    });
  for (;;) pause();
}

std::ptrdiff_t threads_of(pid_t process) {
  std::error_code ended;
  return std::distance(std::filesystem::directory_iterator("/proc/" + std::to_string(process) + "/task", ended), {});
}

/// Those that have waited often and briefly, and so have clocks, wait for long in the end.
void expect_idle_waiters_after_short_waits(int processes) {
  const faults::scratch where;
  gate_options options = where.options();
  options.overtakings = 0;
  gate view("gate", 1, options);
  void* const memory = mmap(nullptr, sizeof(board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  board& shared = *new (memory) board;
  const int each = waiters / processes;
  std::vector<pid_t> children;
  for (int i = 0; i < processes; ++i) children.push_back(spawn_crowd(where, each, shared));
  const auto has_clock = [&](pid_t one) { return threads_of(one) > each + 1; };
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!std::all_of(children.begin(), children.end(), has_clock) && std::chrono::steady_clock::now() < limit)
    usleep(10'000);
  EXPECT_TRUE(std::all_of(children.begin(), children.end(), has_clock)) << "no clocks";
  shared.stay = true;
  while (view.status().waiters.size() < waiters - 1) usleep(10'000);
  expect_rest(children);
  for (const pid_t one : children) kill(one, SIGKILL);
  for (const pid_t one : children) waitpid(one, nullptr, 0);
  munmap(memory, sizeof(board));
}

TEST(idle, threads_sleep) { expect_idle_waiters(1); }
TEST(idle, processes_sleep) { expect_idle_waiters(waiters); }
TEST(idle, threads_sleep_after_short_waits) { expect_idle_waiters_after_short_waits(1); }
TEST(idle, processes_sleep_after_short_waits) { expect_idle_waiters_after_short_waits(10); }

}  // namespace
}  // namespace kgate
