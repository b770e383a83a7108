// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "kgate/detail/waiting/futex.hpp"

namespace kgate::detail {

/// A mutex of four bytes, for what is done seldom.
class small_mutex {
 public:
  constexpr small_mutex() noexcept = default;
  small_mutex(const small_mutex&) = delete;
  small_mutex& operator=(const small_mutex&) = delete;

  void lock() noexcept {
    std::uint32_t expected = open;
    if (word_.compare_exchange_strong(expected, locked, std::memory_order_acquire)) return;
    while (word_.exchange(contended, std::memory_order_acquire) != open) futex_wait(word_, contended);
  }
  void unlock() noexcept {
    if (word_.exchange(open, std::memory_order_release) == contended) futex_wake(word_, 1);
  }

 private:
  static constexpr std::uint32_t open = 0, locked = 1, contended = 2;
  std::atomic<std::uint32_t> word_{open};
};

}  // namespace kgate::detail
