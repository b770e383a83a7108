// SPDX-License-Identifier: Apache-2.0
#include "harness.hpp"

#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <csignal>
#include <memory>
#include <optional>
#include <thread>

#include "kgate/detail/waiting/futex.hpp"
#include "peers.hpp"

namespace kgate::bench {
namespace {

using clock = std::chrono::steady_clock;

double seconds_since(clock::time_point start) { return std::chrono::duration<double>(clock::now() - start).count(); }

double cpu_seconds() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

long involuntary_switches() {
  rusage used{};
  ::getrusage(RUSAGE_THREAD, &used);
  return used.ru_nivcsw;
}

/// Two threads that are to meet must not share a processor, which the scheduler does not promise in a busy system.
void stay_on(int processor) {
  const unsigned count = std::max(1U, std::thread::hardware_concurrency());
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<unsigned>(processor) % count, &one);
  ::sched_setaffinity(0, sizeof one, &one);
}

/// A thread of a pair that did nothing for longer had lost its processor, and the other had it all to itself.
constexpr double gap_max = 0.3e-3;

struct alignas(64) tally {
  std::uint64_t operations = 0;
  std::uint64_t entered_meanwhile = 0;
  double longest_gap = 0;
  clock::time_point begin;
};

/// One thread, no interference: a fixed number of operations at a time until the time is over.
template <class Peer>
sample run_alone(const cell& what) {
  const auto tested = std::make_unique<Peer>(what.k);
  constexpr int batch = 2000;
  for (int i = 0; i < batch; ++i) tested->enter(), tested->leave();
  sample got;
  double best = 1e9;
  const auto start = clock::now();
  while (seconds_since(start) < what.seconds) {
    const auto begin = clock::now();
    for (int i = 0; i < batch; ++i) tested->enter(), tested->leave();
    best = std::min(best, seconds_since(begin));
  }
  got.done = true;
  got.operations = batch;
  got.seconds = best;
  return got;
}

template <class Peer>
sample run_chunk(const cell& what) {
  if (what.threads == 1) return run_alone<Peer>(what);
  if constexpr (requires { typename Peer::counting; }) {
    if (what.count_overtakings) return run_chunk<typename Peer::counting>(what);
  }
  const auto tested = std::make_unique<Peer>(what.k);
  const work inside(what.inside_ns);
  const bool pair = what.threads == 2 && what.asleep_inside_us == 0;
  std::atomic<bool> over{false};
  clock::time_point ended;
  alignas(64) std::atomic<int> started{0};
  alignas(64) std::atomic<std::uint64_t> entries{0};
  std::vector<tally> tallies(static_cast<std::size_t>(what.threads));
  std::barrier together(what.threads + 1);
  std::atomic<int> met{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < what.threads; ++i)
    threads.emplace_back([&, i] {
      tally mine;
      if (pair) {
        // Without the main thread, which is to sleep by then, and without a wake-up that one may be late for.
        stay_on(i);
        met.fetch_add(1);
        while (met.load() < what.threads) cpu_relax();
      } else {
        together.arrive_and_wait();
      }
      bool counting = false;
      const auto begin = clock::now();
      auto last = begin;
      while (!over.load(std::memory_order_relaxed)) {
        if (what.count_overtakings) {
          const long switches = involuntary_switches();
          const std::uint64_t before = entries.load();
          tested->enter();
          const std::uint64_t meanwhile = entries.fetch_add(1) - before;
          inside();
          tested->leave();
          if (involuntary_switches() == switches) mine.entered_meanwhile = std::max(mine.entered_meanwhile, meanwhile);
        } else {
          tested->enter();
          if (what.asleep_inside_us > 0)
            std::this_thread::sleep_for(std::chrono::microseconds(what.asleep_inside_us));
          else if (what.inside_ns > 0)
            inside();
          tested->leave();
        }
        if (mine.operations++ == 0 && !pair) {
          // Those that come first would have it to themselves: what they did before all had been inside does not count.
          started.fetch_add(1);
        } else if (!pair && !counting && started.load(std::memory_order_relaxed) == what.threads) {
          counting = true;
          mine.operations = 1;
          mine.entered_meanwhile = 0;
        }
        if (pair && mine.operations % 64 == 0) {
          const auto now = clock::now();
          mine.longest_gap = std::max(mine.longest_gap, std::chrono::duration<double>(now - last).count());
          last = now;
          // Here and not in the main thread, whose wake-up would take a processor away.
          if (std::chrono::duration<double>(now - begin).count() > what.seconds && !over.exchange(true)) ended = now;
        }
      }
      mine.begin = begin;
      tallies[static_cast<std::size_t>(i)] = mine;
    });
  if (!pair) together.arrive_and_wait();
  while (!pair && started.load() < what.threads) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const double cpu_before = cpu_seconds();
  const auto start = clock::now();
  if (!pair) {
    std::this_thread::sleep_for(std::chrono::duration<double>(what.seconds));
    ended = clock::now();
    over.store(true, std::memory_order_relaxed);
  }
  for (std::thread& t : threads) t.join();
  sample got;
  got.seconds = std::chrono::duration<double>(ended - start).count();
  got.cpu_seconds = cpu_seconds() - cpu_before;
  if (pair) {
    const auto [first, last] = std::minmax(tallies[0].begin, tallies[1].begin);
    got.seconds = std::chrono::duration<double>(ended - last).count();
    if (last - first > std::chrono::microseconds(100)) got.undisturbed = 0;
  }
  got.done = true;
  double squares = 0;
  for (const tally& t : tallies) {
    got.operations += static_cast<double>(t.operations);
    squares += static_cast<double>(t.operations) * static_cast<double>(t.operations);
    got.entered_meanwhile = std::max(got.entered_meanwhile, static_cast<double>(t.entered_meanwhile));
    if (pair && t.longest_gap > gap_max) got.undisturbed = 0;
  }
  if constexpr (requires { tested->most_admitted_meanwhile(); })
    got.admitted_meanwhile = static_cast<double>(tested->most_admitted_meanwhile());
  got.jain = squares > 0 ? got.operations * got.operations / (what.threads * squares) : 0;
  return got;
}

struct traits {
  bool only_one = false, only_spins = false, one_word = false, first_come = false;
};

template <class Peer>
peer describe(traits t = {}) {
  return {Peer::name, t.only_one, t.only_spins, t.one_word, t.first_come, false, run_chunk<Peer>};
}

}  // namespace

std::vector<peer> all_peers() {
  return {
      describe<xadd_pair>({.only_spins = true}),
      describe<used_xadd_pair>({.only_spins = true}),
      describe<kgate_fifo>({.first_come = true}),
      describe<kgate_throughput>(),
      describe<kgate_slots>({.first_come = true}),
      describe<std_semaphore>({.one_word = true}),
      describe<posix_semaphore>({.one_word = true}),
      describe<named_semaphore>({.one_word = true}),
      describe<boost_semaphore>({.one_word = true}),
      describe<moodycamel_semaphore>({.one_word = true}),
      describe<condvar_barging>(),
      describe<condvar_fifo>({.first_come = true}),
      describe<absl_semaphore>(),
      describe<robust_mutexes>(),
      describe<semop_plain>({.first_come = true}),
      describe<semop_undo>({.first_come = true}),
      describe<eventfd_semaphore>(),
      describe<pipe_semaphore>(),
      describe<ticket_lock>({.only_one = true, .only_spins = true, .first_come = true}),
      describe<mcs_spin_lock>({.only_one = true, .only_spins = true, .first_come = true}),
  };
}

sample run_guarded(const peer& who, const cell& what, double limit) {
  void* shared = ::mmap(nullptr, sizeof(sample), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  must(shared != MAP_FAILED, "mmap");
  auto* result = new (shared) sample;
  const pid_t child = ::fork();
  must(child >= 0, "fork");
  if (child == 0) {
    *result = who.run(what);
    ::_exit(0);
  }
  // Asleep until then: a parent that looks around would take a processor away from those it measures.
  const int ended = static_cast<int>(::syscall(SYS_pidfd_open, child, 0));
  must(ended >= 0, "pidfd_open");
  pollfd until{ended, POLLIN, 0};
  if (::poll(&until, 1, static_cast<int>(1000 * limit)) != 1) ::kill(child, SIGKILL);
  ::close(ended);
  int status = 0;
  ::waitpid(child, &status, 0);
  const sample got = *result;
  ::munmap(shared, sizeof(sample));
  return got;
}

work::work(int nanoseconds) {
  static const double per_round = [] {
    constexpr int rounds = 20000;
    double best = 1e9;
    for (int i = 0; i < 20; ++i) {
      const auto start = clock::now();
      compute(rounds);
      best = std::min(best, seconds_since(start));
    }
    return best / rounds * 1e9;
  }();
  rounds_ = static_cast<int>(nanoseconds / per_round);
}

namespace {
/// Two threads take turns at a word; `wait` waits for a value.
template <class Wait, class Wake>
double turns(int rounds, Wait&& wait, Wake&& wake) {
  alignas(64) std::atomic<std::uint32_t> turn{0};
  const auto side = [&](std::uint32_t parity) {
    for (int i = 0; i < rounds; ++i) {
      const std::uint32_t mine = static_cast<std::uint32_t>(2 * i) + parity;
      wait(turn, mine);
      turn.store(mine + 1);
      wake(turn);
    }
  };
  const auto start = clock::now();
  std::thread first([&] {
    stay_on(0);
    side(0);
  });
  std::thread second([&] {
    stay_on(1);
    side(1);
  });
  first.join();
  second.join();
  return seconds_since(start) / rounds * 1e9;
}
}  // namespace

double line_round_trip_ns() {
  double best = 1e9;
  for (int i = 0; i < 20; ++i)
    best = std::min(best, turns(
                              300,
                              [](std::atomic<std::uint32_t>& turn, std::uint32_t mine) {
                                while (turn.load() != mine) {
                                }
                              },
                              [](std::atomic<std::uint32_t>&) {}));
  return best;
}

double futex_round_trip_ns() {
  double best = 1e9;
  for (int i = 0; i < 5; ++i)
    best = std::min(best, turns(
                              100,
                              [](std::atomic<std::uint32_t>& turn, std::uint32_t mine) {
                                for (std::uint32_t seen; (seen = turn.load()) != mine;) detail::futex_wait(turn, seen);
                              },
                              [](std::atomic<std::uint32_t>& turn) { detail::futex_wake(turn, 1); }));
  return best;
}

}  // namespace kgate::bench
