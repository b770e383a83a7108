// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kgate/detail/cxx20.hpp"

/// Which thread this is: a number that no other thread of any process has while this one lives.

#include <pthread.h>
#include <sys/random.h>
#include <unistd.h>

#include <atomic>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace kgate::detail {

/// An identity is a random number of the process, which its forked children do not share, and the number of the thread
/// in it. The latter is given to another thread when this one has ended, so that identities stay few; what a thread has
/// written before is seen by the next that has its identity.
class thread_identity {
 public:
  static constexpr std::uint64_t none = 0;

  /// none for a thread that is about to end, or that found all numbers taken.
  [[gnu::always_inline]] static std::uint64_t mine() noexcept {
    const std::uint64_t identity = mine_;
    return identity != none ? identity : given();
  }
  /// 0, 1, ... in the order of first use.
  static std::size_t number_of(std::uint64_t identity) noexcept { return identity & ((1U << number_bits) - 1); }

 private:
  static constexpr int number_bits = 16;
  static constexpr std::size_t words = 16;

  struct at_end {
    ~at_end() {
      const std::uint64_t identity = mine_;
      mine_ = none;
      ended_ = true;
      if (identity == none) return;
      const std::size_t number = number_of(identity);
      taken_[number / 64].fetch_and(~(std::uint64_t{1} << (number % 64)), std::memory_order_release);
    }
  };

  [[gnu::noinline]] static std::uint64_t given() noexcept {
    if (ended_) return none;
    static const bool once = [] { return ::pthread_atfork(nullptr, nullptr, [] { forked(); }) == 0; }();
    if (!once) return none;
    static thread_local at_end gives_number_back;
    static_cast<void>(gives_number_back);
    const std::uint64_t process = this_process();
    for (std::size_t i = 0; i < words; ++i) {
      std::uint64_t taken = taken_[i].load(std::memory_order_relaxed);
      while (~taken != 0)
        if (taken_[i].compare_exchange_weak(taken, taken | (taken + 1), std::memory_order_acquire)) {
          const std::size_t number = 64 * i + static_cast<std::size_t>(std::countr_one(taken));
          return mine_ = process << number_bits | number;
        }
    }
    return none;
  }
  static std::uint64_t this_process() noexcept {
    std::uint64_t process = process_.load(std::memory_order_acquire);
    if (process != 0) return process;
    std::uint64_t random = 0;
    if (::getrandom(&random, sizeof random, 0) != static_cast<ssize_t>(sizeof random))
      random = static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count()) *
                   0x9E3779B97F4A7C15U ^
               static_cast<std::uint64_t>(::getpid()) << 40;
    random = random >> number_bits | 1;
    return process_.compare_exchange_strong(process, random) ? random : process;
  }
  /// In the child only this thread lives on, and is another one.
  static void forked() noexcept {
    mine_ = none;
    process_.store(0, std::memory_order_relaxed);
    for (auto& word : taken_) word.store(0, std::memory_order_relaxed);
  }

  static inline constinit thread_local std::uint64_t mine_ = none;
  static inline constinit thread_local bool ended_ = false;
  static inline constinit std::atomic<std::uint64_t> process_{0};
  static inline constinit std::atomic<std::uint64_t> taken_[words]{};
};

}  // namespace kgate::detail
