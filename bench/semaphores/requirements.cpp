// SPDX-License-Identifier: Apache-2.0
#include "requirements.hpp"

#include <algorithm>
#include <cstdio>
#include <string_view>

namespace kgate::bench {
namespace {

/// In this cell, `ours` is at least so many times as fast as `peer`, or without one does so many operations a second;
/// or an operation of `peer` takes at least so many times the processor time of one of ours. In the median of the
/// rounds, each with its own ratio.
struct requirement {
  std::string_view cell;
  std::string_view ours;
  std::string_view peer;  ///< "one word": the best of those; empty: none
  double at_least;
  bool processor_time = false;
};

constexpr requirement requirements[] = {
    {"alone k=1", "kgate fifo", "floor: xadd pair", 1 / 1.1},
    {"alone k=4", "kgate fifo", "floor: xadd pair", 1 / 1.1},
    {"alone k=4", "kgate slots", "floor: xadd pair", 1 / 1.6},
    {"pair k=1 empty", "kgate fifo", "one word", 1.8},
    {"pair k=1 200 ns", "kgate fifo", "one word", 0.96},
    {"pair k=2 empty", "kgate fifo", "one word", 1.3},
    {"pair k=2 200 ns", "kgate fifo", "one word", 0.96},
    {"crowd 16 threads k=1", "kgate fifo", "semop", 1.0},
    {"crowd 16 threads k=2", "kgate fifo", "semop", 2.0},
    {"crowd 16 threads k=4", "kgate fifo", "semop", 2.0},
    {"crowd 16 threads k=4", "kgate slots", "kgate fifo", 0.95},
    {"crowd 64 threads k=1", "kgate fifo", "semop", 0.95},
    {"crowd 64 threads k=2", "kgate fifo", "semop", 0.95},
    {"crowd 64 threads k=4", "kgate fifo", "semop", 0.95},
    {"crowd 64 threads k=4", "kgate slots", "kgate fifo", 0.95},
    {"crowd 16 threads k=2", "kgate throughput", "sem_t", 2.0},
    {"crowd 64 threads k=2", "kgate throughput", "sem_t", 2.0},
    // That one has a condition variable for each waiter.
    {"long waits: 200 threads k=4 1 ms", "kgate fifo", "mutex+condvar FIFO", 0.97},
    {"long waits: 200 threads k=4 1 ms", "kgate fifo", "mutex+condvar FIFO", 1 / 1.2, true},
    {"hand-over 100 coroutines", "kgate coroutines", "", 15e6},
    {"hand-over 100 coroutines", "kgate coroutines", "mutex and deque", 2.0},
};

const series* find(const result& r, std::string_view name) {
  const series* found = nullptr;
  for (const series& s : r.all)
    if (name == "one word" ? s.who->one_word && (found == nullptr || s.rate() > found->rate()) : s.who->name == name)
      found = &s;
  return found;
}

}  // namespace

std::vector<judgement> judged(const std::vector<result>& results) {
  std::vector<judgement> all;
  for (const requirement& wanted : requirements)
    for (const result& r : results) {
      const series* const ours = r.what.id == wanted.cell ? find(r, wanted.ours) : nullptr;
      const series* const peer = r.what.id == wanted.cell && !wanted.peer.empty() ? find(r, wanted.peer) : nullptr;
      if (ours == nullptr || (peer == nullptr && !wanted.peer.empty())) continue;
      if (wanted.processor_time) {
        const double got = median_ratio(*peer, *ours, cpu_of);
        all.push_back({r.what.id + ", processor time", ours->who->name, peer->who->name, got, wanted.at_least});
        continue;
      }
      const double got = peer != nullptr ? median_ratio(*ours, *peer, rate_of) : ours->rate();
      all.push_back({r.what.id, ours->who->name, peer != nullptr ? peer->who->name : "", got, wanted.at_least});
    }
  return all;
}

bool meets_requirements(const std::vector<judgement>& all) {
  std::printf("\nrequired\n");
  for (const judgement& one : all) {
    const std::string than = one.peer.empty() ? "a second" : "times " + one.peer;
    std::printf("  %-48s %-18s %10.3g %-34s wanted %.3g%s\n", one.cell.c_str(), one.ours.c_str(), one.got, than.c_str(),
                one.wanted, one.met() ? "" : "  MISSED");
  }
  std::printf("  the instructions of one thread alone, which no other program disturbs: instructions.py --require\n");
  return std::all_of(all.begin(), all.end(), [](const judgement& one) { return one.met(); });
}

}  // namespace kgate::bench
