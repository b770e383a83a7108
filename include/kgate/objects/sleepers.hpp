// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kgate/detail/cxx20.hpp"

/// Waiting for something that others free in one instruction, without order, in memory that processes may share.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <mutex>

#include "kgate/detail/waiting/futex.hpp"
#include "kgate/stop_token.hpp"
#include "kgate/wait_policy.hpp"

namespace kgate::detail {

/// Waiters call until(attempt, ...), which tries, spins a little, and then sleeps between attempts; one that has
/// freed something calls freed(). One that dies before calling it costs the sleepers at most one `poll_interval`, never
/// what it freed.
class sleepers {
 public:
  /// attempt() until it succeeds.
  template <class Attempt>
  bool until(Attempt&& attempt) noexcept {
    return attempt() || wait(attempt, [] { return check_interval; });
  }
  /// The others return false if it did not at once,
  template <class Attempt>
  bool until(Attempt&& attempt, std::try_to_lock_t) noexcept {
    return attempt();
  }
  /// until `timeout` had passed,
  template <class Attempt, class Rep, class Period>
  bool until(Attempt&& attempt, const std::chrono::duration<Rep, Period>& timeout) noexcept {
    using clock = std::chrono::steady_clock;
    if (attempt()) return true;
    const auto begin = clock::now();
    return wait(attempt, [&] { return seconds(timeout) - seconds(clock::now() - begin); });
  }
  /// or until stop was requested, which is noticed within one `poll_interval`.
  template <class Attempt>
  bool until(Attempt&& attempt, const stop_token& stop) noexcept {
    return attempt() || wait(attempt, [&] { return stop.stop_requested() ? seconds::zero() : check_interval; });
  }

  void freed() noexcept {
    // A sleeper raises waits_ before its last attempt: that succeeds, or we see it here, and it sees the change of
    // event_.
    const std::uint32_t waits = waits_.load(std::memory_order_seq_cst);
    if (waits != answered_.load(std::memory_order_seq_cst)) wake(waits);
  }

 private:
  using seconds = std::chrono::duration<double>;
  static constexpr seconds check_interval{0.02};
  static constexpr int spins = 200;

  /// One woken at a time is enough: it lowers waking_ before its attempt, so either that finds what we freed or we see
  /// it low.
  /// If none was asleep all `waits` are answered: one that raised them before we looked has read event_ before we
  /// changed it, and cannot fall asleep any more. So one that was killed asleep costs others one attempt to wake it.
  [[gnu::noinline]] void wake(std::uint32_t waits) noexcept {
    if (waking_.load(std::memory_order_seq_cst) != 0 || waking_.exchange(1, std::memory_order_seq_cst) != 0) return;
    event_.fetch_add(1, std::memory_order_seq_cst);
    if (futex_wake(event_, 1, futex_scope::machine) == 0) {
      answered_.store(waits, std::memory_order_seq_cst);
      waking_.store(0, std::memory_order_seq_cst);
    }
  }

  /// Waits while there is time left.
  template <class Attempt, class Left>
  [[gnu::noinline]] bool wait(Attempt& attempt, const Left& left) noexcept {
    for (int round = 0;; ++round) {
      const seconds time = left();
      if (!(time > seconds::zero())) return false;  // also if it is no number
      if (round < spins) {
        cpu_relax();
        if (attempt()) return true;
        continue;
      }
      const std::timespec length{0, static_cast<long>(std::min(time, check_interval).count() * 1e9)};
      const std::uint32_t event = event_.load(std::memory_order_seq_cst);
      waits_.fetch_add(1, std::memory_order_seq_cst);
      const bool done = attempt();
      if (!done) futex_wait(event_, event, &length, futex_scope::machine);
      waking_.store(0, std::memory_order_seq_cst);  // also one that was not woken: one that was may have died
      if (done || attempt()) return true;
    }
  }

  std::atomic<std::uint32_t> waits_{0};     // how often one was about to sleep
  std::atomic<std::uint32_t> answered_{0};  // if equal to waits_, none sleeps
  std::atomic<std::uint32_t> waking_{0};    // one was woken and has not looked yet
  std::atomic<std::uint32_t> event_{0};     // what sleepers sleep on
};

}  // namespace kgate::detail
