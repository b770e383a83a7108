// SPDX-License-Identifier: Apache-2.0
// Grants a second of a gate between machines: so many sessions of one process that enter and leave.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "kgate/cluster.hpp"

namespace {

using clock_type = std::chrono::steady_clock;

struct figures {
  double grants_per_second = 0;
  double wait_ms_median = 0, wait_ms_worst = 0;
};

figures measure(const std::string& address, int clients, int k, double seconds) {
  const std::string name =
      "bench-" + std::to_string(getpid()) + "-" + std::to_string(clients) + "-" + std::to_string(k);
  kgate::cluster_gate owner(address, name, k);
  std::atomic<bool> go{false};
  std::stop_source over;
  std::vector<std::vector<double>> waits(static_cast<std::size_t>(clients));
  std::vector<std::thread> threads;
  std::atomic<int> ready{0};
  for (int i = 0; i < clients; ++i)
    threads.emplace_back([&, i] {
      kgate::cluster_gate gate(address, name);
      ++ready;
      while (!go) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      while (!over.stop_requested()) {
        const auto began = clock_type::now();
        const auto permit = gate.enter(over.get_token());
        if (!permit) break;
        waits[static_cast<std::size_t>(i)].push_back(
            std::chrono::duration<double, std::milli>(clock_type::now() - began).count());
      }
    });
  while (ready < clients) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const auto began = clock_type::now();
  go = true;
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  over.request_stop();
  const double took = std::chrono::duration<double>(clock_type::now() - began).count();
  for (std::thread& one : threads) one.join();
  owner.remove(true);
  std::vector<double> all;
  for (const auto& some : waits) all.insert(all.end(), some.begin(), some.end());
  std::sort(all.begin(), all.end());
  figures out;
  out.grants_per_second = static_cast<double>(all.size()) / took;
  if (!all.empty()) {
    out.wait_ms_median = all[all.size() / 2];
    out.wait_ms_worst = all.back();
  }
  return out;
}

/// From the beginning of a release to the moment the next one is inside, in ms: median and worst.
std::pair<double, double> hand_over(const std::string& address, int rounds) {
  const std::string name = "bench-" + std::to_string(getpid()) + "-hand-over";
  kgate::cluster_gate one(address, name, 1), other(address, name);
  std::vector<double> all;
  for (int i = 0; i < rounds; ++i) {
    std::optional<kgate::cluster_gate::permit> held = one.enter();
    clock_type::time_point inside;
    std::thread waiter([&] {
      const auto permit = other.enter();
      inside = clock_type::now();
    });
    while (one.status().waiters.empty()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::this_thread::sleep_for(std::chrono::milliseconds(5));  // until it has set its watches
    const auto began = clock_type::now();
    held.reset();
    waiter.join();
    all.push_back(std::chrono::duration<double, std::milli>(inside - began).count());
  }
  one.remove(true);
  std::sort(all.begin(), all.end());
  return {all[all.size() / 2], all.back()};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: bench_cluster zk://HOST:PORT[,...] [SECONDS] [CLIENTS K]...\n");
    return 2;
  }
  const double seconds = argc > 2 ? std::atof(argv[2]) : 3;
  std::vector<std::pair<int, int>> cases;
  for (int i = 3; i + 1 < argc; i += 2) cases.emplace_back(std::atoi(argv[i]), std::atoi(argv[i + 1]));
  if (cases.empty()) cases = {{1, 1}, {4, 1}, {16, 1}, {1, 4}, {4, 4}, {16, 4}, {64, 4}, {64, 64}};
  const auto [median, worst] = hand_over(argv[1], 50);
  std::printf("hand-over: median %.2f ms, worst %.2f ms of 50\n", median, worst);
  std::printf("clients    k  grants/s  wait ms: median     worst\n");
  for (const auto& [clients, k] : cases) {
    const figures seen = measure(argv[1], clients, k, seconds);
    std::printf("%7d %4d %9.0f %16.2f %9.2f\n", clients, k, seen.grants_per_second, seen.wait_ms_median,
                seen.wait_ms_worst);
    std::fflush(stdout);
  }
}
