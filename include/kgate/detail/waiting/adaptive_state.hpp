// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace kgate::detail {

/// Whether to do something again that costs time and may or may not pay: always while it pays, and more and more seldom
/// after it came to nothing several times in a row, so that a change for the better is noticed. Shared by threads, and
/// written only when what they found out differs. All zero bits are the initial state.
class adaptive_switch {
 public:
  /// What costs much the first time begins `doubtful`: as if it had failed often enough to be tried in one epoch in 8.
  enum class start : unsigned char { confident, doubtful };

  /// `epoch` goes up with every occasion, of any thread. What pays only if all do it for a while has one number for
  /// the whole while: it counts as one failure at most.
  bool should_try(std::uint64_t epoch, start from = start::confident) const noexcept {
    const unsigned failures = failures_.load(std::memory_order_relaxed) + initial(from);
    return failures <= failures_ignored || (epoch & ((std::uint64_t{1} << (failures - failures_ignored)) - 1)) == 0;
  }
  void learn(std::uint64_t epoch, bool paid, start from = start::confident) noexcept {
    const unsigned now = failures_.load(std::memory_order_relaxed) + initial(from);
    if (paid) {
      if (now != 0) failures_.store(0U - initial(from), std::memory_order_relaxed);
    } else if (const auto failed = static_cast<std::uint32_t>(~epoch);
               last_failure_.load(std::memory_order_relaxed) != failed) {
      last_failure_.store(failed, std::memory_order_relaxed);
      if (now < failures_ignored + seldom_max) failures_.store(now + 1 - initial(from), std::memory_order_relaxed);
    }
  }

 private:
  static constexpr unsigned failures_ignored = 3;
  static constexpr unsigned seldom_max = 10;  ///< at the most seldom, in one epoch in 2^10
  static constexpr unsigned initial(start from) { return from == start::doubtful ? failures_ignored + 3 : 0; }
  std::atomic<unsigned> failures_{0};           ///< less initial()
  std::atomic<std::uint32_t> last_failure_{0};  ///< the complement of its epoch
};

/// What the waiters of one bucket have found out about waiting. Only ever a hint.
class adaptive_state {
 public:
  /// How many pauses of at most `spins_max` are worth it. Spins that came to nothing make the next ones shorter; but
  /// now and then, less and less often, a long one is tried, or two threads that could meet would both go on sleeping.
  int spins(int spins_max) noexcept {
    const int now = spins_at(level_.load(std::memory_order_relaxed), spins_max);
    const unsigned each = trials_min << rarity_.load(std::memory_order_relaxed);
    if (now >= spins_max || waits_.fetch_add(1, std::memory_order_relaxed) % each != 0) return now;
    return spins_max;
  }
  /// `used` pauses were spent, with this end.
  void learn_spins(bool won, int used, int spins_max) noexcept {
    const unsigned level = level_.load(std::memory_order_relaxed);
    const unsigned next = won ? level_max : level - std::min(level, 1U);
    if (next != level) level_.store(next, std::memory_order_relaxed);
    const bool trial_failed = !won && level < level_max && used >= spins_max;
    const unsigned rarity = rarity_.load(std::memory_order_relaxed);
    const unsigned wanted = won ? 0 : trial_failed ? std::min(rarity + 1, rarity_max) : rarity;
    if (wanted != rarity) rarity_.store(wanted, std::memory_order_relaxed);
  }

  adaptive_switch backoff, yielding, barging;
  /// How many permits had been released for barging when a waiter was last woken to barge.
  std::atomic<std::uint64_t> bargeable_when_woken{0};

 private:
  static constexpr unsigned level_max = 4, trials_min = 16, rarity_max = 6;
  static constexpr int spins_at(unsigned level, int spins_max) { return spins_max / 16 << level; }
  std::atomic<unsigned> level_{0};
  std::atomic<unsigned> waits_{0};
  std::atomic<unsigned> rarity_{0};  ///< one wait in trials_min << rarity_ is a trial
};

}  // namespace kgate::detail
