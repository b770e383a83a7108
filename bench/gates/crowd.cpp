// SPDX-License-Identifier: Apache-2.0
#include "crowd.hpp"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <thread>

namespace gates_bench {

namespace {

constexpr int members_most = 4096;
constexpr double warm_up_seconds = 0.1;

using clock_type = std::chrono::steady_clock;

/// Rounds of empty work that take a nanosecond; measured once, since reading a clock inside would cost more than it
/// measures.
double rounds_per_ns() {
  static const double measured = [] {
    double best = 0;
    for (int tries = 0; tries < 20; ++tries) {
      constexpr int rounds = 200'000;
      const auto began = clock_type::now();
      for (int i = 0; i < rounds; ++i) std::atomic_signal_fence(std::memory_order_seq_cst);
      best = std::max(best, rounds / std::chrono::duration<double, std::nano>(clock_type::now() - began).count());
    }
    return best;
  }();
  return measured;
}

void spend(long rounds) {
  for (; rounds > 0; --rounds) std::atomic_signal_fence(std::memory_order_seq_cst);
}

double cpu_us(const rusage& used) {
  const auto us = [](const timeval& t) { return 1e6 * static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec); };
  return us(used.ru_utime) + us(used.ru_stime);
}

}  // namespace

struct crowd::board {
  std::atomic<int> ready{0};
  int start[2]{};                   ///< a pipe that ends when all begin
  std::atomic<bool> counts{false};  ///< all have begun; what they do from now on is measured
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> cpu_us{0};
  std::atomic<std::uint64_t> passages[members_most];
};

crowd::crowd(int members, bool as_processes, double inside_ns, double seconds)
    : members_(members),
      as_processes_(as_processes),
      seconds_(seconds),
      rounds_inside_(static_cast<long>(inside_ns * rounds_per_ns())) {
  if (members < 1 || members > members_most) std::abort();
  void* const there = mmap(nullptr, sizeof(board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (there == MAP_FAILED) std::abort();
  board_ = new (there) board;
}

crowd::~crowd() { munmap(board_, sizeof(board)); }

void crowd::take_part(contender& at, int member) const {
  const std::unique_ptr<passage> mine = at.join();
  board_->ready.fetch_add(1);
  char byte = 0;
  while (read(board_->start[0], &byte, 1) > 0) {
  }
  rusage before{}, after{};
  std::uint64_t done = 0;
  for (bool counts = false; !board_->stop.load(std::memory_order_relaxed);) {
    mine->enter();
    spend(rounds_inside_);
    mine->leave();
    if (counts) {
      ++done;
    } else if (board_->counts.load(std::memory_order_relaxed)) {
      counts = true;
      getrusage(RUSAGE_SELF, &before);
    }
  }
  getrusage(RUSAGE_SELF, &after);
  board_->passages[member] = done;
  // Of the process, so that threads of the library count; where members are threads, the first one speaks for all.
  if (as_processes_ || member == 0) board_->cpu_us += static_cast<std::uint64_t>(cpu_us(after) - cpu_us(before));
}

outcome crowd::run(contender& at) {
  board_->ready = 0;
  if (pipe(board_->start) != 0) std::abort();
  board_->counts = false;
  board_->stop = false;
  board_->cpu_us = 0;
  const int processes = as_processes_ ? members_ : 1;
  std::vector<pid_t> children;
  for (int i = 0; i < processes; ++i) {
    const pid_t pid = fork();
    if (pid < 0) std::abort();
    if (pid == 0) {
      close(board_->start[1]);
      at.open();
      std::vector<std::thread> threads;
      if (as_processes_) take_part(at, i);
      for (int j = 0; j < members_ && !as_processes_; ++j) threads.emplace_back([&, j] { take_part(at, j); });
      for (std::thread& one : threads) one.join();
      _exit(0);
    }
    children.push_back(pid);
  }
  while (board_->ready < members_) usleep(1000);
  close(board_->start[1]);
  close(board_->start[0]);
  usleep(static_cast<useconds_t>(warm_up_seconds * 1e6));
  const auto began = clock_type::now();
  board_->counts = true;
  usleep(static_cast<useconds_t>(seconds_ * 1e6));
  board_->stop = true;
  const double lasted = std::chrono::duration<double>(clock_type::now() - began).count();
  for (const pid_t pid : children) waitpid(pid, nullptr, 0);
  double sum = 0, squares = 0;
  for (int i = 0; i < members_; ++i) {
    const auto done = static_cast<double>(board_->passages[i]);
    sum += done;
    squares += done * done;
  }
  return {sum / lasted, sum * sum / (members_ * squares), static_cast<double>(board_->cpu_us) / sum};
}

}  // namespace gates_bench
