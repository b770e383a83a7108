// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Ends dozes that last too long, for members that set no timers: setting and clearing one costs a waiter that is
/// granted soon more than all else that it does itself.

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

#include "gate/cells.hpp"

namespace kgate::detail::gates {

class clock_thread;

/// The members of a gate object that have a clock: from when their waits are many and short until none has waited for a
/// while. All gate objects of a process that have one share a thread.
class doze_clock {
 public:
  /// What happens at a tick.
  struct pace {
    std::int64_t tick_ns;  ///< until the next one, at most
    std::int64_t doze_ns;  ///< a doze lasts so long, or a tick or two longer
    unsigned waits;        ///< another number than at the last tick if a member has waited
    bool goes_on;          ///< false: there is to be no clock
  };
  /// The thread calls `tick`.
  doze_clock(mapped_cells& cells, std::function<pace()> tick) : cells_(cells), tick_(std::move(tick)) {}
  doze_clock(const doze_clock&) = delete;
  doze_clock& operator=(const doze_clock&) = delete;
  ~doze_clock() { stop(); }

  /// From joining to parting.
  void add(unsigned member);
  void remove(unsigned member) noexcept;
  /// How many there are.
  unsigned members() const noexcept { return count_.load(std::memory_order_relaxed); }
  /// Begins to tick, if it does not. If there is no thread to be had, members go on with timers.
  void start() noexcept;
  /// Whether it does, for a hint.
  bool runs() const noexcept { return runs_.load(std::memory_order_relaxed); }
  /// A member that has set its bell to asleep: whether its doze will be ended.
  [[gnu::hot]] bool is_watched() noexcept;
  /// The wall clock at the last tick.
  std::uint64_t wall_ns() const noexcept { return wall_ns_.load(std::memory_order_relaxed); }

  void stop() noexcept;
  /// In a forked child, which has no such thread.
  void abandon() noexcept { thread_.store(nullptr); }

 private:
  friend clock_thread;
  struct hand {
    unsigned member;
    state seen{};                ///< at the last tick
    std::int64_t since_ns = -1;  ///< when it was first seen to doze in that state; -1: it did not doze
  };
  class clock_cells;

  /// By the thread. How long until the next tick; 0 if it has ended.
  std::int64_t tick() noexcept;
  bool check_members(std::int64_t at_ns, std::int64_t doze_ns);

  mapped_cells& cells_;
  std::atomic<bool> runs_{false};
  std::atomic<std::uint64_t> wall_ns_{0};
  std::atomic<unsigned> count_{0};
  std::function<pace()> tick_;
  std::mutex mutex_;
  std::vector<hand> hands_;
  unsigned waits_ = 0;                          ///< pace::waits at the last tick
  std::int64_t waited_ns_ = 0;                  ///< the last tick at which a member had waited
  std::atomic<clock_thread*> thread_{nullptr};  ///< null if it never ran
  doze_clock* next_ = nullptr;                  ///< under the thread's lock, as what follows
  bool ticks_ = false;                          ///< it is one of the thread's
};

}  // namespace kgate::detail::gates
