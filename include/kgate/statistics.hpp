// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "kgate/detail/cxx20.hpp"

namespace kgate {

/// Counts nothing: the default.
struct no_statistics {
  static constexpr bool counts = false;
};

struct statistics {
  static constexpr bool counts = true;
  std::atomic<std::uint64_t> grants{0}, waits{0}, overtakings{0}, given_up{0};
  /// The most others that were admitted between the moment a thread was queued and its own admission: those that came
  /// before it, and those that overtook it; and the latter alone. Counted are those that certainly fall into that time:
  /// from a read after the ticket was drawn to a read of the leaver before it admitted. Only those inside that have not
  /// reported yet, at most k, can be counted for later ones.
  std::atomic<std::uint64_t> most_admitted_meanwhile{0}, most_overtaken{0};

  /// Called by the leaver that admitted this ticket, before it wakes the thread.
  void note_admission(std::uint64_t ticket, std::uint64_t overtakings_before) noexcept {
    admission& a = admissions_[ticket % admissions_max];
    a.overtakings.store(overtakings_before, std::memory_order_relaxed);
    a.ticket.store(ticket, std::memory_order_release);  // read by note_wait_of
  }
  /// Called by the thread with this ticket, which had `ahead` before it and was queued after `overtakings_before`.
  /// A waiter that saw its admission before the leaver had reported it is not counted.
  void note_wait_of(std::uint64_t ticket, std::uint64_t ahead, std::uint64_t overtakings_before) noexcept {
    const admission& a = admissions_[ticket % admissions_max];
    if (a.ticket.load(std::memory_order_acquire) != ticket) return;
    const std::uint64_t until = a.overtakings.load(std::memory_order_relaxed);
    const std::uint64_t overtaken = until - std::min(until, overtakings_before);
    raise(most_overtaken, overtaken);
    raise(most_admitted_meanwhile, ahead + overtaken);
  }

 private:
  static void raise(std::atomic<std::uint64_t>& most, std::uint64_t to) noexcept {
    std::uint64_t now = most.load(std::memory_order_relaxed);
    while (now < to && !most.compare_exchange_weak(now, to, std::memory_order_relaxed)) {
    }
  }

  static constexpr std::size_t admissions_max = 1024;
  struct admission {
    std::atomic<std::uint64_t> ticket{~std::uint64_t{0}}, overtakings{0};
  };
  std::array<admission, admissions_max> admissions_;
};

}  // namespace kgate
