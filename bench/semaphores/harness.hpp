// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Runs one peer for a short while (a chunk) in a process of its own, so that one that hangs can be ended.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace kgate::bench {

/// What the threads do.
struct cell {
  std::string id;
  int threads = 1;
  int coroutines = 0;  ///< of one thread, instead of threads
  int k = 1;
  int inside_ns = 0;         ///< computing inside
  int asleep_inside_us = 0;  ///< sleeping inside
  double seconds = 0.01;     ///< length of a chunk
  long hand_overs = 0;       ///< of coroutines; if not 0 the chunk ends after as many
  bool count_overtakings = false;
};

/// What one chunk gave.
struct sample {
  bool done = false;  ///< false: ended by the watchdog
  double operations = 0;
  double seconds = 0;
  double cpu_seconds = 0;
  double jain = 0;  ///< Jain's fairness index of the operations per thread
  double entered_meanwhile =
      0;  ///< the most entries of others from a call until it returned, involuntary switches aside
  double admitted_meanwhile = -1;  ///< ours: the most others admitted while one was queued
  double undisturbed = 1;          ///< 0: a thread of a pair lost its processor meanwhile
};

struct peer {
  std::string name;
  bool only_one = false;    ///< a lock: k = 1 only
  bool only_spins = false;  ///< not for more threads than processors
  bool one_word = false;    ///< keeps its permits in one word and blocks in user space
  bool first_come = false;  ///< FIFO
  bool coroutines = false;  ///< for coroutines instead of threads
  std::function<sample(const cell&)> run;
};

std::vector<peer> all_peers();
std::vector<peer> coroutine_peers();

/// peer.run(what) in a child, which is ended after `limit` seconds.
sample run_guarded(const peer& who, const cell& what, double limit);

/// Computes for about this long, on this machine.
class work {
 public:
  explicit work(int nanoseconds);
  void operator()() const { compute(rounds_); }

 private:
  static void compute(int rounds) {
    std::uint64_t x = 1;
    for (int i = 0; i < rounds; ++i) {
      x = x * 6364136223846793005U + 1442695040888963407U;
      asm volatile("" : "+r"(x));
    }
  }
  int rounds_;
};

/// Nanoseconds for a cache line to go to another core and back, and for a thread to wake another and be woken.
double line_round_trip_ns();
double futex_round_trip_ns();

}  // namespace kgate::bench
