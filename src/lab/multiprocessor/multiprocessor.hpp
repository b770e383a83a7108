// SPDX-License-Identifier: Apache-2.0
#pragma once

/// P processes on C processors in virtual time, event by event. Process p belongs to processor p mod C for good; a
/// processor runs its processes round robin, a quantum each, and takes the processor away between any two accesses to
/// shared memory.
///
/// The order of accesses is the order of the processors' clocks, except that a processor may run ahead of the others by
/// the time of one remote reference: so the order is still one that a sequentially consistent memory allows, and times
/// are inexact by that much. A process that waits burns its quanta without being simulated: it is looked at again when
/// what it waits for is written.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <unordered_map>
#include <vector>

#include "kgate/detail/machine.hpp"
#include "lab/multiprocessor/costs.hpp"
#include "lab/multiprocessor/timeline.hpp"
#include "lab/schedules/fiber.hpp"

namespace kgate::lab {

class multiprocessor {
 public:
  /// Where a variable is: what a cache fetches together.
  using line = std::uint32_t;

  multiprocessor(const machine_costs& costs, int processors, int processes, std::uint64_t seed);
  multiprocessor(const multiprocessor&) = delete;
  multiprocessor& operator=(const multiprocessor&) = delete;

  line new_line(process_id home);
  /// A line for a word of data, which may lie in the line of the word before.
  line data_line(process_id home);

  /// Runs body(p) for every process p until all have returned, or one has called stop(). Throws std::logic_error if
  /// those left wait for ever.
  void run(const std::function<void(int)>& body);

  // Called from within a body.
  /// Ends the run when this process next leaves its processor. The others end where they are.
  void stop() { stopped_ = true; }
  /// Returns when it is this process's time to make an access.
  void at_its_time(int process) {
    while (running_->time > limit_) processes_[static_cast<std::size_t>(process)].here->leave();
  }
  void access(int process, line where, access_kind kind, bool rmw);
  /// What was written is seen by the processes that wait for it.
  void written(line where) {
    if (lines_[where].awaited) wake(where);
  }
  /// Asks to be notified of the next write to this line.
  void wait_for(int process, line where);
  /// Consumes quanta until notified; returns at once if it was notified since its last return.
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
  struct line_state {
    std::uint16_t module = 0;
    std::int16_t owner = -1;  ///< the processor whose copy is exclusive
    bool shared = false;      ///< some processor may have a copy
    bool awaited = false;
  };
  struct process_state {
    std::unique_ptr<schedules::fiber> fiber;
    schedules::fiber* here = nullptr;
    int processor = 0;
    bool waits = false;     ///< blocked, and nothing it waits for was written since
    bool notified = false;  ///< something it had asked for was written while it did not wait
    bool done = false;
  };
  struct processor_state {
    std::vector<int> ring;  ///< its processes that are not done
    std::size_t at = 0;     ///< the position in `ring` of the process whose turn it is
    nanoseconds time = 0;   ///< its clock
    nanoseconds slot = 0;   ///< when this turn began
    int number = 0;
  };

  copy copy_of(int processor, const line_state& at, const std::uint64_t* copies) const;
  void take_copy(int processor, line_state& at, std::uint64_t* copies, access_kind kind) const;
  nanoseconds turn() const { return costs_.quantum + costs_.context_switch; }
  /// When the turn of the process that runs there is over.
  nanoseconds turn_over(const processor_state& c) const {
    return c.ring.size() > 1 ? c.slot + turn() : timeline::never;
  }
  bool quantum_over(const processor_state& c) const { return c.time >= turn_over(c); }
  void wake(line where);
  void rotate(processor_state& c);
  void plan(const processor_state& c);
  void handle_event(processor_state& c, nanoseconds now, nanoseconds others);
  process_state& current(const processor_state& c) { return processes_[static_cast<std::size_t>(c.ring[c.at])]; }

  machine_costs costs_;
  cost_model rules_;
  std::size_t copy_words_;
  std::mt19937_64 random_;
  std::vector<line_state> lines_;
  std::vector<std::uint64_t> copies_;
  int line_filled_ = 0;
  std::vector<nanoseconds> module_free_;
  std::vector<process_state> processes_;
  std::vector<processor_state> processors_;
  std::unordered_map<line, std::vector<int>> waiters_;
  timeline events_;
  nanoseconds limit_ = 0;               ///< how far the running processor may go
  processor_state* running_ = nullptr;  ///< the processor that runs
  std::size_t done_ = 0;
  bool stopped_ = false;
  totals totals_;
};

}  // namespace kgate::lab
