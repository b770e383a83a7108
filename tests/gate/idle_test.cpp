// SPDX-License-Identifier: Apache-2.0
/// Members that wait for long do nothing at all: nobody is woken, neither who waits nor a thread of the library.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
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

TEST(idle, threads_sleep) { expect_idle_waiters(1); }
TEST(idle, processes_sleep) { expect_idle_waiters(waiters); }

}  // namespace
}  // namespace kgate
