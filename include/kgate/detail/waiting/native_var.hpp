// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

#include "kgate/detail/machine.hpp"
#include "kgate/wait_policy.hpp"

namespace kgate::detail {

/// A shared variable as a bare std::atomic: an access costs what the instruction costs. All zero bits are the variable
/// with value zero.
template <class T>
class native_var {
 public:
  constexpr native_var() noexcept = default;
  template <class Memory>
  constexpr native_var(Memory&, variable, T initial) noexcept : value_(initial) {}
  native_var(const native_var&) = delete;
  native_var& operator=(const native_var&) = delete;

  template <class P>
  T read(P&) const noexcept {
    return value_.load(std::memory_order_seq_cst);
  }
  template <class P>
  void write(P&, T value) noexcept {
    value_.store(value, std::memory_order_seq_cst);
  }
  template <class P>
  T fetch_add(P&, T delta) noexcept {
    return value_.fetch_add(delta, std::memory_order_seq_cst);
  }
  template <class P>
  bool test_and_set(P&) noexcept {
    return value_.exchange(true, std::memory_order_seq_cst);
  }
  template <class P>
  T exchange(P&, T value) noexcept {
    return value_.exchange(value, std::memory_order_seq_cst);
  }
  template <class P>
  bool compare_and_swap(P&, T expected, T desired) noexcept {
    return value_.compare_exchange_strong(expected, desired, std::memory_order_seq_cst);
  }
  template <class P, class F>
  T rmw(P&, F&& f) noexcept {
    T old = value_.load(std::memory_order_seq_cst);
    for (;;) {
      const T next = f(T{old});
      if (next == old || value_.compare_exchange_weak(old, next, std::memory_order_seq_cst)) return old;
    }
  }
  /// f changes `likely`.
  template <class P, class F>
  T rmw_from(P& p, T likely, F&& f) noexcept {
    T old = likely;
    if (value_.compare_exchange_strong(old, f(T{likely}), std::memory_order_seq_cst)) [[likely]]
      return likely;
    return rmw(p, f);
  }
  /// Asks for the variable's cache line for writing: to read it first and write it then would fetch it twice.
  void will_change() noexcept {
#if defined(__x86_64__)
    asm volatile("prefetchw %0" : : "m"(value_));
#else
    __builtin_prefetch(&value_, 1);
#endif
  }
  template <class P, class Predicate>
  void await(P& p, Predicate&& until) noexcept {
    await_value(p, until);
  }
  template <class P, class Predicate>
  T await_value(P&, Predicate&& until) noexcept {
    backoff<spin_yield> pause;
    for (;;) {
      const T seen = value_.load(std::memory_order_seq_cst);
      if (until(T{seen})) return seen;
      pause();
    }
  }
  std::atomic<T>& atomic() noexcept { return value_; }

 private:
  std::atomic<T> value_{};
};

}  // namespace kgate::detail
