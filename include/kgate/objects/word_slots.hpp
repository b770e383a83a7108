// SPDX-License-Identifier: Apache-2.0
#pragma once

/// kgate::word_slots: k-assignment in one word, for at most 32 slots, in memory that processes may share.

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <optional>
#include <stdexcept>
#include <stop_token>

#include "kgate/algorithms/word_names.hpp"
#include "kgate/core/contracts.hpp"
#include "kgate/core/futex.hpp"
#include "kgate/core/wait_policy.hpp"
#include "kgate/machines/native.hpp"

namespace kgate {

/// At most k inside, each with a number 0..k-1 of its own, taken and given back by one instruction. Of those who wait any may be
/// next (no order is kept). Has the interface of kgate::slots; unlike those it contains no pointers and sleeps on a
/// word that all processes see. Who dies inside keeps its slot.
///
/// A releaser that dies before it wakes a sleeper costs a delay of at most one `look`, never a slot.
class word_slots {
 public:
  static constexpr std::ptrdiff_t max() noexcept { return 32; }

  /// @throws std::invalid_argument unless 1 <= k <= max()
  explicit word_slots(std::ptrdiff_t k) : names_(memory_, 0, checked(k)) {}
  word_slots(const word_slots&) = delete;
  word_slots& operator=(const word_slots&) = delete;

  [[nodiscard]] std::ptrdiff_t acquire() noexcept {
    return *acquire_while([] { return look; });
  }
  [[nodiscard]] std::optional<std::ptrdiff_t> try_acquire() noexcept {
    process p(pid(0));
    names::Private mine;
    return names_.try_acquire(p, mine) ? std::optional<std::ptrdiff_t>(mine.name) : std::nullopt;
  }
  template <class Rep, class Period>
  [[nodiscard]] std::optional<std::ptrdiff_t> try_acquire_for(
      const std::chrono::duration<Rep, Period>& timeout) noexcept {
    using clock = std::chrono::steady_clock;
    if (const auto got = try_acquire()) return got;
    const auto begin = clock::now();
    return acquire_while([&] { return seconds(timeout) - seconds(clock::now() - begin); });
  }
  /// Notices within one `look` that stop was requested.
  [[nodiscard]] std::optional<std::ptrdiff_t> acquire(std::stop_token stop) noexcept {
    return acquire_while([&] { return stop.stop_requested() ? seconds::zero() : look; });
  }

  void release(std::ptrdiff_t number) noexcept {
    KGATE_EXPECTS(number >= 0 && number < size(), "release of a slot that does not exist");
    process p(pid(0));
    KGATE_EXPECTS(names_.give_back(p, static_cast<int>(number)), "release of a slot that nobody holds");
    // A sleeper raises sleepers_ before the kernel looks whether a slot is free: one of the two sees the other. One woken at a
    // time is enough: it lowers waking_ before it looks for a slot, so either it finds ours or we see waking_ low.
    if (sleepers_.load(std::memory_order_seq_cst) != 0 && waking_.load(std::memory_order_seq_cst) == 0 &&
        waking_.exchange(1, std::memory_order_seq_cst) == 0 &&
        futex_wake(names_.word().atomic(), 1, futex_scope::machine) == 0)
      waking_.store(0, std::memory_order_seq_cst);
  }

  std::ptrdiff_t size() const noexcept { return names_.size(); }
  std::ptrdiff_t available() const noexcept {
    return std::popcount(names_.word().atomic().load(std::memory_order_seq_cst));
  }
  /// The slots that are taken, a bit each.
  std::uint32_t taken() noexcept {
    process p(pid(0));
    return names_.taken_names(p);
  }

 private:
  using machine = native<spin>;
  using process = machine::Process;
  using names = word_names<machine, std::uint32_t>;
  using seconds = std::chrono::duration<double>;
  static constexpr seconds look{0.02};
  static constexpr int spins = 200;

  static int checked(std::ptrdiff_t k) {
    if (k < 1 || k > max()) throw std::invalid_argument("word_slots: k must be 1..32");
    return static_cast<int>(k);
  }

  /// Waits while there is time left.
  template <class Left>
  std::optional<std::ptrdiff_t> acquire_while(Left&& left) noexcept {
    for (int round = 0;; ++round) {
      if (const auto got = try_acquire()) return got;
      const seconds time = left();
      if (time <= seconds::zero()) return std::nullopt;
      if (round < spins) {
        cpu_relax();
        continue;
      }
      const std::timespec length{0, static_cast<long>(std::min(time, look).count() * 1e9)};
      sleepers_.fetch_add(1, std::memory_order_seq_cst);
      futex_wait(names_.word().atomic(), 0, &length, futex_scope::machine);
      sleepers_.fetch_sub(1, std::memory_order_seq_cst);
      waking_.store(0, std::memory_order_seq_cst);  // also who was not woken: one who was may have died
    }
  }

  [[no_unique_address]] machine::Memory memory_;
  mutable names names_;
  std::atomic<std::uint32_t> waking_{0};    // somebody was woken and has not looked yet
  std::atomic<std::uint32_t> sleepers_{0};  // one that is killed asleep stays counted: then wake-ups are tried in vain
};

}  // namespace kgate
