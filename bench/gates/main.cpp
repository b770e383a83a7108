// SPDX-License-Identifier: Apache-2.0
// kgate::gate between processes, beside the threads' semaphore and a process-shared sem_t, interleaved in one run.
//
// usage: gates [ROUNDS]     prints medians with quartiles and the ratios that matter
#include <semaphore.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "kgate/gate.hpp"
#include "kgate/semaphore.hpp"

namespace {

using clock_type = std::chrono::steady_clock;

struct board {
  std::atomic<int> ready{0};
  std::atomic<bool> go{false};
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> operations{0};
  sem_t semaphore;
};

template <class Enter, class Leave>
double ns_each(Enter&& enter, Leave&& leave) {
  constexpr int operations = 5'000;  // short: a core taken away spoils few of many chunks
  const auto began = clock_type::now();
  for (int i = 0; i < operations; ++i) {
    enter();
    leave();
  }
  return std::chrono::duration<double, std::nano>(clock_type::now() - began).count() / operations;
}

/// Rounds of empty work that take a nanosecond; measured once, since reading a clock inside would cost more than it
/// measures.
double rounds_per_ns() {
  constexpr int rounds = 2'000'000;
  const auto began = clock_type::now();
  for (int i = 0; i < rounds; ++i) std::atomic_signal_fence(std::memory_order_seq_cst);
  return rounds / std::chrono::duration<double, std::nano>(clock_type::now() - began).count();
}

void spend(double rounds) {
  for (auto left = static_cast<long>(rounds); left > 0; --left) std::atomic_signal_fence(std::memory_order_seq_cst);
}

/// Operations a second of `processes` processes that enter and leave for a while. `make` is called in each of them.
using section = std::pair<std::function<void()>, std::function<void()>>;
double rate(board& shared, int processes, double inside_rounds, const std::function<section()>& make) {
  shared.ready = 0;
  shared.go = false;
  shared.stop = false;
  shared.operations = 0;
  std::vector<pid_t> children;
  for (int i = 0; i < processes; ++i) {
    const pid_t pid = fork();
    if (pid == 0) {
      const section mine = make();
      shared.ready.fetch_add(1);
      while (!shared.go) usleep(10);
      std::uint64_t done = 0;
      while (!shared.stop.load(std::memory_order_relaxed)) {
        mine.first();
        spend(inside_rounds);
        mine.second();
        ++done;
      }
      shared.operations.fetch_add(done);
      _exit(0);
    }
    children.push_back(pid);
  }
  while (shared.ready < processes) usleep(100);
  const auto began = clock_type::now();
  shared.go = true;
  usleep(30'000);
  shared.stop = true;
  for (const pid_t pid : children) waitpid(pid, nullptr, 0);
  return static_cast<double>(shared.operations) / std::chrono::duration<double>(clock_type::now() - began).count();
}

struct series {
  std::vector<double> values;
  double at(double part) {
    std::sort(values.begin(), values.end());
    return values[static_cast<std::size_t>(part * static_cast<double>(values.size() - 1))];
  }
};

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 15;
  char directory[] = "/dev/shm/kgate-bench-XXXXXX";
  if (mkdtemp(directory) == nullptr) return EXIT_FAILURE;
  kgate::gate_options options;
  options.directory = directory;
  auto& shared = *new (mmap(nullptr, sizeof(board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) board;

  const double per_ns = rounds_per_ns();
  std::map<std::string, series> results;
  for (const int k : {1, 4}) {
    const std::string at = "k=" + std::to_string(k);
    kgate::gate gate("alone" + std::to_string(k), k, options);
    kgate::gate::member member = gate.join();
    kgate::basic_semaphore<kgate::fifo> semaphore(k);
    sem_init(&shared.semaphore, 1, static_cast<unsigned>(k));
    for (int round = 0; round < 100 * rounds; ++round) {
      results["alone " + at + " gate"].values.push_back(ns_each([&] { member.enter(); }, [&] { member.leave(); }));
      results["alone " + at + " semaphore"].values.push_back(
          ns_each([&] { semaphore.acquire(); }, [&] { semaphore.release(); }));
      results["alone " + at + " sem_t"].values.push_back(
          ns_each([&] { sem_wait(&shared.semaphore); }, [&] { sem_post(&shared.semaphore); }));
    }
  }
  for (const int processes : {2, 8})
    for (const int k : {1, 2})
      for (const int inside : {0, 200}) {
        const std::string at =
            std::to_string(processes) + " processes k=" + std::to_string(k) + " " + std::to_string(inside) + " ns";
        const std::string name = "many" + std::to_string(processes) + std::to_string(k) + std::to_string(inside);
        kgate::gate_options passing = options;
        passing.overtakings = 1000;
        { const kgate::gate fifo(name, k, options), throughput(name + "b", k, passing); }
        const auto at_gate = [&](const std::string& which) {
          return rate(shared, processes, inside * per_ns, [&] {
            auto gate = std::make_shared<kgate::gate>(which, 0, options);
            auto member = std::make_shared<kgate::gate::member>(gate->join());
            return section{[member] { member->enter(); }, [member, gate] { member->leave(); }};
          });
        };
        for (int round = 0; round < rounds; ++round) {
          results[at + " gate"].values.push_back(at_gate(name));
          results[at + " b=1000 gate"].values.push_back(at_gate(name + "b"));
          sem_init(&shared.semaphore, 1, static_cast<unsigned>(k));
          results[at + " sem_t"].values.push_back(rate(shared, processes, inside * per_ns, [&] {
            return section{[&] { sem_wait(&shared.semaphore); }, [&] { sem_post(&shared.semaphore); }};
          }));
        }
      }
  for (auto& [name, values] : results)
    std::printf("%-40s %14.1f   (%.1f .. %.1f)\n", name.c_str(), values.at(0.5), values.at(0.25), values.at(0.75));
  std::printf("\nratios of medians: time alone (less is better), rate of several (more is better)\n");
  for (auto& [name, values] : results) {
    if (!name.ends_with(" gate")) continue;
    const std::string at = name.substr(0, name.size() - 5);
    const std::string without = at.substr(0, at.find(" b="));
    for (const char* peer : {" semaphore", " sem_t"})
      if (const auto found = results.find(without + peer); found != results.end())
        std::printf("%-40s gate /%-10s %.2f\n", at.c_str(), peer, values.at(0.5) / found->second.at(0.5));
  }
  std::filesystem::remove_all(directory);
  return EXIT_SUCCESS;
}
