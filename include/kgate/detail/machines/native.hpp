// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The native machine: shared variables are std::atomic objects, each on its own cache line, and every access of a Var
/// is sequentially consistent, as the papers assume. With the policies spin and spin_yield an algorithm compiles to the
/// atomic instructions one would write by hand (tests/algorithms/native holds that); with spin_park a write also looks
/// whether a thread sleeps on the variable.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kgate/detail/cache_line.hpp"
#include "kgate/detail/machine.hpp"
#include "kgate/detail/waiting/futex.hpp"
#include "kgate/wait_policy.hpp"

namespace kgate {

namespace detail {

/// Where waiters for one variable sleep.
///
/// No wake-up is lost: a waiter raises `parked` and then looks at the variable; a writer writes the variable and then
/// looks at `parked`. All four are seq_cst, so at least one of them sees the other. A waiter that misses the write
/// reads `event` before it looks at the variable, so the raise of `event` makes its futex_wait return.
class park_spot {
 public:
  void wake() noexcept {
    if (parked_.load(std::memory_order_seq_cst) != 0) {
      event_.fetch_add(1, std::memory_order_seq_cst);
      detail::futex_wake(event_);
    }
  }
  std::uint32_t prepare() noexcept {
    parked_.fetch_add(1, std::memory_order_seq_cst);
    return event_.load(std::memory_order_seq_cst);
  }
  void finish() noexcept { parked_.fetch_sub(1, std::memory_order_seq_cst); }
  void sleep(std::uint32_t event) noexcept { detail::futex_wait(event_, event); }
  detail::futex_waiter waiter(std::uint32_t event) noexcept { return detail::make_futex_waiter(event_, event); }

 private:
  std::atomic<std::uint32_t> parked_{0};
  std::atomic<std::uint32_t> event_{0};
};

struct no_park_spot {
  void wake() noexcept {}
};

#if defined(__SANITIZE_THREAD__)
#define KGATE_UNDER_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define KGATE_UNDER_TSAN 1
#endif
#endif

/// ThreadSanitizer knows no fences. Under it a fence is a read-modify-write of one word that all share: these are in
/// one order, and each happens before the next, which is more than a fence gives.
inline void full_fence() noexcept {
#if defined(KGATE_UNDER_TSAN)
  static std::atomic<unsigned> word{0};
  word.fetch_add(1, std::memory_order_acq_rel);
#else
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}
#undef KGATE_UNDER_TSAN

}  // namespace detail

template <class Policy = spin_park>
struct native {
  struct Memory {};
  /// What one process at a time uses, by other means, may be an ordinary object.
  static constexpr bool has_plain_memory = true;

  class Process {
   public:
    explicit Process(process_id id) noexcept : id_(id) {}

    process_id id() const noexcept { return id_; }
    Process& operator[](const char* /*label*/) noexcept { return *this; }
    void doorway_end() noexcept {}
    nothing_private frame() noexcept { return {}; }
    template <class... T>
    void live(const T&...) noexcept {}
    void pause() noexcept { backoff_(); }
    void give_way(int pauses) noexcept {
      for (; pauses > 0; --pauses) cpu_relax();
    }
    /// What was written before is seen by all before what follows is read (detail/weak_register.hpp).
    void fence() noexcept { detail::full_fence(); }

   private:
    process_id id_;
    [[no_unique_address]] backoff<Policy> backoff_;
  };

  template <class T>
  class alignas(detail::cache_line) Var {
    static_assert(std::is_trivially_copyable_v<T>);

   public:
    Var(Memory&, variable, T initial) noexcept : value_(initial) {}
    Var(const Var&) = delete;
    Var& operator=(const Var&) = delete;

    T read(Process&) const noexcept { return value_.load(std::memory_order_seq_cst); }
    void write(Process&, T value) noexcept {
      value_.store(value, std::memory_order_seq_cst);
      spot_.wake();
    }
    T fetch_add(Process&, T delta) noexcept {
      const T old = value_.fetch_add(delta, std::memory_order_seq_cst);
      spot_.wake();
      return old;
    }
    bool test_and_set(Process& p) noexcept { return exchange(p, true); }
    T exchange(Process&, T value) noexcept {
      const T old = value_.exchange(value, std::memory_order_seq_cst);
      spot_.wake();
      return old;
    }
    bool compare_and_swap(Process&, T expected, T desired) noexcept {
      const bool swapped = value_.compare_exchange_strong(expected, desired, std::memory_order_seq_cst);
      if (swapped) spot_.wake();
      return swapped;
    }
    template <class F>
    T rmw(Process&, F&& f) noexcept {
      T old = value_.load(std::memory_order_seq_cst);
      while (!value_.compare_exchange_weak(old, f(T{old}), std::memory_order_seq_cst)) {
      }
      spot_.wake();
      return old;
    }
    template <class Predicate>
    void await(Process& p, Predicate&& until) noexcept {
      await_value(p, until);
    }
    template <class Predicate>
    T await_value(Process&, Predicate&& until) noexcept {
      backoff<Policy> pause;
      for (;;) {
        const T seen = value_.load(std::memory_order_seq_cst);
        if (until(T{seen})) return seen;
        if constexpr (Policy::parks) {
          if (pause.exhausted()) return await_parked(until);
        }
        pause();
      }
    }

    /// For callers that sleep on the variable themselves.
    std::atomic<T>& atomic() noexcept { return value_; }

   private:
    friend struct native;

    template <class Predicate>
    T await_parked(Predicate& until) noexcept {
      for (;;) {
        const std::uint32_t event = spot_.prepare();
        const T seen = value_.load(std::memory_order_seq_cst);
        const bool done = until(T{seen});
        if (!done) spot_.sleep(event);
        spot_.finish();
        if (done) return seen;
      }
    }

    std::atomic<T> value_;
    [[no_unique_address]] std::conditional_t<Policy::parks, detail::park_spot, detail::no_park_spot> spot_;
  };

  /// A register for algorithms that put the fences they need themselves (detail/weak_register.hpp).
  template <class T>
  class alignas(detail::cache_line) Register {
   public:
    Register(Memory&, variable, T initial) noexcept : value_(initial) {}
    Register(const Register&) = delete;
    Register& operator=(const Register&) = delete;

    T read(Process&) const noexcept { return value_.load(std::memory_order_acquire); }
    void write(Process&, T value) noexcept { value_.store(value, std::memory_order_release); }

   private:
    std::atomic<T> value_;
  };

  /// A word of data that is handed over through a Var: many of them lie side by side in a cache line. One that reads
  /// with acquire what another wrote with release also sees what that one did before, which is all such data need;
  /// objects/herlihy93.hpp says why for its blocks.
  template <class T>
  class Data {
   public:
    Data(Memory&, variable, T initial) noexcept : value_(initial) {}
    Data(const Data&) = delete;
    Data& operator=(const Data&) = delete;

    T read(Process&) const noexcept { return value_.load(std::memory_order_acquire); }
    void write(Process&, T value) noexcept { value_.store(value, std::memory_order_release); }

   private:
    std::atomic<T> value_;
  };

  /// Waits until predicate(i, value) holds for one of `count` variables, at(0) .. at(count-1), looked at in turn.
  /// Returns i.
  template <class At, class Predicate>
  static std::size_t await_any(Process& p, std::size_t count, At&& at, Predicate&& until) noexcept {
    backoff<Policy> pause;
    for (;;) {
      for (std::size_t i = 0; i < count; ++i)
        if (until(i, at(i).read(p))) return i;
      if constexpr (Policy::parks) {
        if (pause.exhausted() && count <= detail::futex_waiters_max) {
          park_any(p, count, at, until);
          continue;
        }
      }
      pause();
    }
  }

 private:
  template <class At, class Predicate>
  static void park_any(Process& p, std::size_t count, At& at, Predicate& until) noexcept {
    std::array<detail::futex_waiter, detail::futex_waiters_max> waiters;
    for (std::size_t i = 0; i < count; ++i) waiters[i] = at(i).spot_.waiter(at(i).spot_.prepare());
    bool done = false;
    for (std::size_t i = 0; i < count && !done; ++i) done = until(i, at(i).read(p));
    if (!done && !detail::futex_wait_any(waiters.data(), count)) sched_yield();
    for (std::size_t i = 0; i < count; ++i) at(i).spot_.finish();
  }
};

static_assert(Machine<native<spin>> && Machine<native<spin_yield>> && Machine<native<spin_park>>);

}  // namespace kgate
