// SPDX-License-Identifier: Apache-2.0
// Gates between machines, measured on an ensemble that runs: bench/cluster/run starts one, and reads what this prints.
//
//   bench_cluster grants ADDRESS SECONDS SESSIONS K   sessions that enter and leave: grants/s
//   bench_cluster floor ADDRESS SECONDS SESSIONS      each creates and deletes an ephemeral, sequential node: pairs/s
//   bench_cluster hand-over ADDRESS ROUNDS            from the beginning of a release until the next one is inside, ms
//   bench_cluster await ADDRESS NAME                  waits for a slot: a line when queued, the time when inside
//   bench_cluster leased ADDRESS NAME SECONDS N STAY  N processes that pass by the lease of this host, and stay inside
//                                                     for STAY microseconds: grants/s
//   bench_cluster local DIRECTORY K SECONDS N         the same at a gate of this machine, in strict order
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

#include "cluster/session.hpp"
#include "kgate/gate.hpp"
#include "kgate/lease.hpp"

namespace {

using namespace kgate::detail::cluster;
using clock_type = std::chrono::steady_clock;

void sleep_for(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

/// So many threads, each with its own `prepare()`d passage, for so long: how many passages a second. What is thrown
/// ends the program: a rate of fewer than all would be another measurement.
double rate(int threads, double seconds, const std::function<std::function<bool(std::stop_token)>()>& prepare) {
  std::stop_source over;
  std::atomic<bool> go{false};
  std::atomic<int> ready{0};
  std::atomic<long> passages{0};
  std::counting_semaphore<> preparing(16);  // a thousand at once would wait for each other until they are given up
  std::vector<std::thread> all;
  for (int i = 0; i < threads; ++i)
    all.emplace_back([&] {
      try {
        preparing.acquire();
        const auto pass = prepare();
        preparing.release();
        ++ready;
        go.wait(false);  // one that polled would take the processors from those that prepare
        long mine = 0;
        while (!over.stop_requested() && pass(over.get_token())) ++mine;
        passages += mine;
      } catch (const std::exception& failure) {
        std::fprintf(stderr, "bench_cluster: %s\n", failure.what());
        std::_Exit(1);
      }
    });
  while (ready < threads) sleep_for(0.005);
  const auto began = clock_type::now();
  go = true;
  go.notify_all();
  sleep_for(seconds);
  over.request_stop();
  const double took = std::chrono::duration<double>(clock_type::now() - began).count();
  for (std::thread& one : all) one.join();
  return static_cast<double>(passages) / took;
}

std::string own_name(const char* what) { return std::string("bench-") + what + "-" + std::to_string(getpid()); }

int grants(const std::string& address, double seconds, int sessions, int k) {
  const std::string name = own_name("grants");
  kgate::cluster_gate owner(address, name, k);
  kgate::cluster_options patient;
  patient.connect_timeout = std::chrono::seconds(60);  // a thousand sessions are opened at once
  const double seen = rate(sessions, seconds, [&] {
    auto gate = std::make_shared<kgate::cluster_gate>(address, name, 0, patient);
    return [gate](const std::stop_token& stop) { return gate->enter(stop).has_value(); };
  });
  owner.remove(true);
  std::printf("%.1f\n", seen);
  return 0;
}

int floor_of(const std::string& text, double seconds, int sessions) {
  kgate::detail::cluster::address where;
  if (parse_address(text, where)) return 2;
  session owner(where, "", std::chrono::seconds(10));
  const std::string parent = "/" + own_name("floor");
  owner.transact({{write::kind::create, parent}});
  const double seen = rate(sessions, seconds, [&] {
    auto s = std::make_shared<session>(where, "", std::chrono::seconds(10));
    return [s, parent](const std::stop_token&) {
      const auto made = s->create_waiter(parent + "/n_", "bench");
      return made.is == answer::ok && s->transact({{write::kind::remove, made.value}}).is == answer::ok;
    };
  });
  owner.transact({{write::kind::remove, parent}});
  std::printf("%.1f\n", seen);
  return 0;
}

int hand_over(const std::string& address, int rounds) {
  const std::string name = own_name("hand-over");
  kgate::cluster_gate one(address, name, 1), other(address, name);
  for (int i = 0; i < rounds; ++i) {
    std::optional<kgate::cluster_gate::permit> held = one.enter();
    clock_type::time_point inside;
    std::thread waiter([&] {
      const auto permit = other.enter();
      inside = clock_type::now();
    });
    while (one.status().waiters.empty()) sleep_for(0.001);
    sleep_for(0.005);  // until it has set its watches
    const auto began = clock_type::now();
    held.reset();
    waiter.join();
    std::printf("%.3f\n", std::chrono::duration<double, std::milli>(inside - began).count());
  }
  one.remove(true);
  return 0;
}

int await_slot(const std::string& address, const std::string& name) {
  kgate::cluster_gate gate(address, name), other(address, name);
  double inside = 0;
  std::thread waiter([&] {
    const auto permit = gate.enter();
    inside = std::chrono::duration<double>(clock_type::now().time_since_epoch()).count();
  });
  while (other.status().waiters.empty()) sleep_for(0.001);
  std::puts("queued");
  std::fflush(stdout);
  waiter.join();
  std::printf("%.6f\n", inside);
  return 0;
}

/// So many processes, each with its own `prepare()`d passage, for so long: how many passages a second.
int rate_of_processes(double seconds, int processes, const std::function<std::function<bool()>()>& prepare) {
  struct shared_counts {
    std::atomic<int> ready;
    std::atomic<bool> go;
    std::atomic<long> passages, lost;
  };
  auto* const all = static_cast<shared_counts*>(
      mmap(nullptr, sizeof(shared_counts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  if (all == MAP_FAILED) return 1;
  for (int i = 0; i < processes; ++i) {
    if (fork() != 0) continue;
    const auto pass = prepare();
    ++all->ready;
    while (!all->go) sleep_for(0.001);
    const auto until = clock_type::now() + std::chrono::duration<double>(seconds);
    long passages = 0, lost = 0;
    while (clock_type::now() < until) {
      lost += pass() ? 0 : 1;
      ++passages;
    }
    all->passages += passages;
    all->lost += lost;
    _exit(0);
  }
  while (all->ready < processes) sleep_for(0.005);
  all->go = true;
  while (wait(nullptr) > 0) {
  }
  std::printf("%.0f %ld\n", static_cast<double>(all->passages) / seconds, all->lost.load());
  return 0;
}

int leased(const std::string& address, const std::string& name, double seconds, int processes, double stay_us) {
  return rate_of_processes(seconds, processes, [&] {
    auto gate = std::make_shared<kgate::leased_gate>(address, name);
    return [gate, stay_us] {
      const auto permit = gate->enter();
      if (stay_us > 0) sleep_for(stay_us * 1e-6);
      return !permit.lost();
    };
  });
}

/// The peer of leased: a gate of this machine, in strict order.
int local(const std::string& directory, int k, double seconds, int processes) {
  kgate::gate_options how;
  how.directory = directory;
  how.overtakings = 0;
  return rate_of_processes(seconds, processes, [&] {
    auto gate = std::make_shared<kgate::gate>("bench", k, how);
    return [gate] { return gate->enter().slot() >= 0; };
  });
}

}  // namespace

int main(int argc, char** argv) {
  const auto is = [&](const char* what, int words) { return argc == words && std::strcmp(argv[1], what) == 0; };
  if (is("grants", 6)) return grants(argv[2], std::atof(argv[3]), std::atoi(argv[4]), std::atoi(argv[5]));
  if (is("floor", 5)) return floor_of(argv[2], std::atof(argv[3]), std::atoi(argv[4]));
  if (is("hand-over", 4)) return hand_over(argv[2], std::atoi(argv[3]));
  if (is("await", 4)) return await_slot(argv[2], argv[3]);
  if (is("local", 6)) return local(argv[2], std::atoi(argv[3]), std::atof(argv[4]), std::atoi(argv[5]));
  if (is("leased", 7)) return leased(argv[2], argv[3], std::atof(argv[4]), std::atoi(argv[5]), std::atof(argv[6]));
  std::fprintf(stderr, "bench/cluster/run starts this program\n");
  return 2;
}
