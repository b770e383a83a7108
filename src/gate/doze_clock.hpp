// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Ends dozes that last too long, for members that set no timers: setting and clearing one costs a waiter that is
/// granted soon more than all else that it does itself.

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

#include "gate/cells.hpp"

namespace kgate::detail::gates {

/// One thread for all members of a gate object, begun when their waits are many and short, ended when nobody has dozed
/// for a while. It ends a doze after one to two of its ticks.
class doze_clock {
 public:
  /// The thread calls `tick`, which says how long the next tick is.
  doze_clock(mapped_cells& cells, std::function<std::int64_t()> tick) : cells_(cells), tick_(std::move(tick)) {}
  doze_clock(const doze_clock&) = delete;
  doze_clock& operator=(const doze_clock&) = delete;
  ~doze_clock() { stop(); }

  /// From joining to parting.
  void add(unsigned member);
  void remove(unsigned member) noexcept;
  /// Begins the thread if there is none. If there is none to be had, members go on with timers.
  void start() noexcept;
  /// Whether there is one, for a hint.
  bool runs() const noexcept { return runs_.load(std::memory_order_relaxed); }
  /// A member that has set its bell to asleep: whether its doze will be ended.
  [[gnu::hot]] bool is_watched() noexcept;
  /// The wall clock at the last tick.
  std::uint64_t wall_ns() const noexcept { return wall_ns_.load(std::memory_order_relaxed); }

  void stop() noexcept;
  /// In a forked child, which has no such thread.
  void abandon() noexcept { running_ = false; }

 private:
  struct hand {
    unsigned member;
    state seen;  ///< at the last tick
  };
  class clock_cells;

  static void* thread_main(void* self);
  void run() noexcept;
  bool check_members();

  mapped_cells& cells_;
  std::atomic<bool> runs_{false};
  std::atomic<std::uint64_t> wall_ns_{0};
  std::function<std::int64_t()> tick_;
  std::atomic<std::uint32_t> stopping_{0};
  std::mutex mutex_;
  std::vector<hand> hands_;
  pthread_t thread_{};
  bool running_ = false;   ///< there is a thread to be joined
  bool finished_ = false;  ///< it has ended, or is about to
};

}  // namespace kgate::detail::gates
