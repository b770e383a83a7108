// SPDX-License-Identifier: Apache-2.0
#pragma once

/// P processes on C processors in virtual time, event by event. Process p belongs to processor p mod C for good; a processor runs
/// its processes round robin, a quantum each, and takes the processor away between any two accesses to shared memory.
///
/// The order of accesses is the order of the processors' clocks, except that a processor may run ahead of the others by the time of
/// one remote reference: so the order is still one that a sequentially consistent memory allows, and times are inexact by that much.
/// A process that waits burns its quanta without being simulated: it is looked at again when what it waits for is written.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <random>
#include <unordered_map>
#include <vector>

#include "kgate/core/machine.hpp"
#include "lab/multiprocessor/costs.hpp"
#include "lab/schedules/fiber.hpp"

namespace kgate::lab {

class multiprocessor {
 public:
  /// The place of a variable: what a cache fetches together.
  using line = std::uint32_t;

  multiprocessor(const machine_costs& costs, int processors, int processes, std::uint64_t seed);
  multiprocessor(const multiprocessor&) = delete;
  multiprocessor& operator=(const multiprocessor&) = delete;

  line new_line(process_id home);
  /// A line for a word of data, which may lie in the line of the word before.
  line data_line(process_id home);

  /// Runs body(p) for every process p until all have returned. Throws std::logic_error if those left wait for ever.
  void run(const std::function<void(int)>& body);

  // Called from within a body.
  /// Returns when it is this process's time to make an access.
  void at_its_time(int process);
  void access(int process, line where, access_kind kind, bool rmw);
  /// What was written is seen by those who wait for it.
  void written(int process, line where) {
    if (lines_[where].awaited) wake(process, where);
  }
  /// Asks to be told of the next write to this line.
  void wait_for(int process, line where);
  /// Burns turns until it is told, or not at all if it has been told since it last came back from here.
  void block(int process);
  void no_longer_waits_for(int process, line where);

  struct totals {
    nanoseconds time = 0;  ///< when the last process was done
    std::uint64_t accesses = 0;
    std::uint64_t remote = 0;
    std::uint64_t preemptions = 0;
    nanoseconds queued = 0;  ///< spent before a busy bus or module
  };
  const totals& so_far() const { return totals_; }

 private:
  struct place {
    std::uint16_t module = 0;
    std::int16_t owner = -1;  ///< the processor whose copy is exclusive
    bool shared = false;      ///< some processor may have a copy
    bool awaited = false;
  };
  struct process_state {
    std::unique_ptr<schedules::fiber> fiber;
    schedules::fiber* here = nullptr;
    int processor = 0;
    bool waits = false;  ///< blocked, and nothing it waits for was written since
    bool told = false;   ///< something it had asked for was written while it did not wait
    bool done = false;
  };
  struct processor_state {
    std::vector<int> ring;    ///< its processes that are not done
    std::size_t at = 0;       ///< whose turn it is
    nanoseconds time = 0;     ///< its clock
    nanoseconds slot = 0;     ///< when this turn began
    std::uint64_t event = 0;  ///< number of its valid entry in the queue; 0: none
  };
  struct event {
    nanoseconds time;
    std::uint64_t number;
    int processor;
    bool operator>(const event& other) const {
      return time != other.time ? time > other.time : number > other.number;
    }
  };

  bool has_copy(int processor, line where) const {
    return (copies_[where * copy_words_ + static_cast<std::size_t>(processor) / 64] >> (processor % 64) & 1) != 0;
  }
  copy copy_of(int processor, line where) const;
  void take_copy(int processor, line where, access_kind kind);
  nanoseconds turn() const { return costs_.quantum + costs_.context_switch; }
  bool due(const processor_state& c) const { return c.ring.size() > 1 && c.time >= c.slot + turn(); }
  void wake(int process, line where);
  void rotate(processor_state& c);
  void plan(int processor);
  void look_at(int processor, nanoseconds now);
  void drop_outdated();
  int current(int processor) const {
    const processor_state& c = processors_[static_cast<std::size_t>(processor)];
    return c.ring[c.at];
  }

  machine_costs costs_;
  cost_model rules_;
  std::size_t copy_words_;
  std::mt19937_64 random_;
  std::vector<place> lines_;
  std::vector<std::uint64_t> copies_;
  int data_in_line_ = 0;
  std::vector<nanoseconds> module_free_;
  std::vector<process_state> processes_;
  std::vector<processor_state> processors_;
  std::unordered_map<line, std::vector<int>> waiters_;
  std::priority_queue<event, std::vector<event>, std::greater<>> events_;
  std::uint64_t event_number_ = 0;
  nanoseconds horizon_ = 0;  ///< how far the running processor may go
  int running_ = -1;         ///< the processor that runs
  std::size_t done_ = 0;
  totals totals_;
};

}  // namespace kgate::lab
