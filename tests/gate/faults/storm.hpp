// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Many processes at one gate, killed, stopped and continued at random; the seed makes the decisions again.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "gate/core.hpp"
#include "gate/faults/scratch.hpp"

namespace kgate::faults {

struct storm_options {
  unsigned seed = 1;
  int processes = 20;
  int k = 3;
  int kills = 300;
  unsigned overtakings = 0;
  bool mixed = false;  ///< with resizes to k and k + 1, forks, status, doctor, and members that come and go
};

/// What the processes of a storm share besides the gate.
struct storm_board {
  std::atomic<bool> over{false};
  std::atomic<std::uint64_t> passages{0};
  std::atomic<std::uint64_t> timeouts{0};
  std::atomic<int> violations{0};
};

/// A witness of its own that no two are in one slot: a record lock for each slot, which the kernel takes back before it
/// takes back the gate's (these when descriptors are closed, those when the last reference to the open file goes).
inline bool witness(int fd, int slot, short type) {
  struct flock range {};
  range.l_type = type;
  range.l_whence = SEEK_SET;
  range.l_start = slot;
  range.l_len = 1;
  return fcntl(fd, F_SETLK, &range) == 0;
}

/// A child that ends as programs do, with all its destructors, or lives on a little.
inline void fork_once(gate& g, gate::member& member, unsigned kind) {
  const pid_t child = fork();
  if (child == 0) {
    try {
      if (kind % 2 == 0) g.status();
    } catch (const gate_error&) {
    }
    { const gate::member ended = std::move(member); }
    if (kind % 3 == 0) usleep(2000);
    _exit(0);
  }
  if (child > 0) waitpid(child, nullptr, 0);
}

/// What `kgate doctor` does at a gate that is in use. False if it finds something wrong.
inline bool doctor(const scratch& where) {
  detail::gates::location here;
  here.directory = where.path();
  detail::gates::core gate;
  if (const gate_failure failure = gate.open("storm", 0, here)) {
    std::printf("doctor: %s\n", failure.text.c_str());
    return false;
  }
  gate.heal_all();
  const detail::gates::snapshot seen = detail::gates::take_snapshot(gate.cells().map(), &gate.file().locks());
  return !seen.settled || seen.sound;
}

/// What others do to a gate beside entering it.
inline void disturb(gate& g, gate::member& member, const scratch& where, const storm_options& how, storm_board& board,
                    std::mt19937& random) {
  switch (random() % 6) {
    case 0:
      g.resize(how.k + static_cast<int>(random() % 2));
      break;
    case 1:
      fork_once(g, member, static_cast<unsigned>(random()));
      break;
    case 2:
      g.status();
      break;
    case 3:
      (void)g.try_enter();
      break;
    case 4:
      member = g.join();
      break;
    default:
      if (random() % 4 == 0 && !doctor(where)) board.violations.fetch_add(1);
      break;
  }
}

[[noreturn]] inline void storm_worker(const scratch& where, const storm_options& how, storm_board& board,
                                      unsigned seed) {
  std::mt19937 random(seed);
  const int book = open((where.path() + "/witness").c_str(), O_RDWR | O_CLOEXEC);
  gate g = where.open("storm", 0, "worker");
  gate::member member = g.join();
  const bool patient = seed % 2 == 0;  // one that sets no time limits, and so comes to doze without timers
  while (!board.over.load()) {
    if (how.mixed) disturb(g, member, where, how, board, random);
    const int weight = random() % 8 == 0 ? 2 : 1;
    bool inside = true;
    switch (patient ? 4 : random() % 4) {
      case 4:
        member.enter(weight);
        break;
      case 0:
        inside = member.try_enter(weight);
        break;
      case 1:
        inside = member.try_enter_for(std::chrono::microseconds(random() % 3000), weight);
        break;
      default:
        inside = member.try_enter_for(std::chrono::seconds(20), weight);
        break;
    }
    if (!inside) {
      board.timeouts.fetch_add(1);
      continue;
    }
    if (random() % 2 == 0 || weight == 2) {
      for (const int slot : member.slots())
        if (!witness(book, slot, F_WRLCK)) board.violations.fetch_add(1);
      for (auto spin = random() % 2000; spin > 0; --spin) std::atomic_signal_fence(std::memory_order_seq_cst);
      if (random() % 4 == 0) usleep(static_cast<useconds_t>(random() % 500));
      for (const int slot : member.slots()) witness(book, slot, F_UNLCK);
    }
    if (how.mixed && random() % 16 == 0) fork_once(g, member, static_cast<unsigned>(random()));
    member.leave();
    board.passages.fetch_add(1);
  }
  _exit(0);
}

inline void storm(const storm_options& how) {
  const scratch where;
  {
    gate_options options = where.options();
    options.overtakings = how.overtakings;
    const gate created("storm", how.k, options);
  }
  close(open((where.path() + "/witness").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600));
  void* const memory = mmap(nullptr, sizeof(storm_board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  storm_board& board = *new (memory) storm_board;
  std::mt19937 random(how.seed);
  const auto spawn = [&] {
    const unsigned seed = static_cast<unsigned>(random());
    const pid_t pid = fork();
    if (pid == 0) storm_worker(where, how, board, seed);
    return pid;
  };
  std::vector<pid_t> workers;
  for (int i = 0; i < how.processes; ++i) workers.push_back(spawn());
  std::vector<pid_t> stopped;
  const auto began = std::chrono::steady_clock::now();
  for (int kills = 0; kills < how.kills && board.violations.load() == 0;) {
    usleep(static_cast<useconds_t>(random() % 1500));
    const std::size_t which = random() % workers.size();
    switch (random() % 5) {
      case 0:
        kill(workers[which], SIGSTOP);
        stopped.push_back(workers[which]);
        break;
      case 1:
        for (const pid_t pid : stopped) kill(pid, SIGCONT);
        stopped.clear();
        break;
      default:
        kill(workers[which], SIGKILL);
        waitpid(workers[which], nullptr, 0);
        std::erase(stopped, workers[which]);
        workers[which] = spawn();
        ++kills;
    }
  }
  for (const pid_t pid : stopped) kill(pid, SIGCONT);
  board.over.store(true);
  for (const pid_t pid : workers) {
    int how_ended = 0;
    waitpid(pid, &how_ended, 0);
    EXPECT_TRUE(WIFEXITED(how_ended) && WEXITSTATUS(how_ended) == 0) << "a worker ended with status " << how_ended;
  }
  EXPECT_EQ(board.violations.load(), 0) << "two were in one slot, or the doctor found something, seed " << how.seed;
  gate after = where.open("storm");
  const std::uint64_t healed = after.status().healed;
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  std::printf("seed %u: %d kills, %lu passages, %lu time-outs, %lu healed, %.1f s\n", how.seed, how.kills,
              board.passages.load(), board.timeouts.load(), healed, seconds);
  EXPECT_GT(board.passages.load(), static_cast<std::uint64_t>(how.kills));
  EXPECT_TRUE(after.slots() == how.k || (how.mixed && after.slots() == how.k + 1)) << after.slots();
  expect_whole(where, "storm", after.slots());
  munmap(memory, sizeof(storm_board));
}

}  // namespace kgate::faults
