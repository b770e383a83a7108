// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kgate/detail/cxx20.hpp"

/// kgate::slots: at most k inside, each with a number 0..k-1 of its own.
///
/// @code
///   kgate::slots gpus(4);
///   kgate::slot mine(gpus);      // waits its turn
///   run_on(mine.number());       // no other has this number
///                                // until `mine` goes
/// @endcode

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "kgate/algorithms/bitmap_names.hpp"
#include "kgate/semaphore.hpp"
#include "kgate/stop_token.hpp"

namespace kgate {

namespace detail {
struct suspended_slots;
}

/// A semaphore that also says which of the k permits one got. Low numbers are
/// given first. Template parameters and waiting are those of basic_semaphore; a
/// slot is a single permit.
template <class Fairness = fifo, class WaitPolicy = adaptive, class Statistics = no_statistics>
class basic_slots {
  using machine = detail::native_waiting<WaitPolicy, no_statistics>;
  using process = typename machine::Process;
  /// The names of up to eight slots are in the word of the permits, so that both are taken in one step.
  using words = ticket_word<std::uint64_t, 24, 8>;
  using permits = basic_semaphore<Fairness, WaitPolicy, Statistics, words>;

 public:
  /// The largest k.
  static constexpr std::ptrdiff_t max() noexcept { return std::ptrdiff_t{1} << 20; }

  /// k slots, all free.
  /// @throws std::invalid_argument unless 1 <= k <= max()
  explicit basic_slots(std::ptrdiff_t k) : basic_slots(k, k) {}
  /// k slots, all free, and room for as many as `capacity`.
  /// @throws std::invalid_argument unless 1 <= k <= capacity <= max()
  basic_slots(std::ptrdiff_t k, std::ptrdiff_t capacity)
      : permits_(k <= capacity && capacity <= max() ? k : 0, 0,
                 capacity <= words::names_max ? static_cast<int>(capacity) : 0),
        capacity_(capacity),
        names_(memory_, capacity <= words::names_max ? 0 : static_cast<int>(capacity)) {}
  basic_slots(const basic_slots&) = delete;
  basic_slots& operator=(const basic_slots&) = delete;

  /// Waits in the queue for a slot.
  [[nodiscard]] std::ptrdiff_t acquire() {
    if (names_in_word()) [[likely]] {
      if (const int name = permits_.try_acquire_named(); name >= 0) [[likely]]
        return name;
    }
    permits_.acquire();
    return take();
  }
  /// A slot if one is free now.
  [[nodiscard]] std::optional<std::ptrdiff_t> try_acquire() { return taken_if(permits_.try_acquire()); }
  /// Nothing if `timeout` passed first.
  template <class Rep, class Period>
  [[nodiscard]] std::optional<std::ptrdiff_t> try_acquire_for(const std::chrono::duration<Rep, Period>& timeout) {
    return taken_if(permits_.try_acquire_for(timeout));
  }
  template <class Clock, class Duration>
  [[nodiscard]] std::optional<std::ptrdiff_t> try_acquire_until(const std::chrono::time_point<Clock, Duration>& when) {
    return taken_if(permits_.try_acquire_until(when));
  }
  /// Nothing if stop was requested first.
  [[nodiscard]] std::optional<std::ptrdiff_t> acquire(stop_token stop) {
    return taken_if(permits_.acquire(std::move(stop)));
  }
  /// Nothing if stop was requested first, or `timeout` passed.
  template <class Rep, class Period>
  [[nodiscard]] std::optional<std::ptrdiff_t> try_acquire_for(stop_token stop,
                                                              const std::chrono::duration<Rep, Period>& timeout) {
    return taken_if(permits_.try_acquire_for(std::move(stop), timeout));
  }
  template <class Clock, class Duration>
  [[nodiscard]] std::optional<std::ptrdiff_t> try_acquire_until(stop_token stop,
                                                                const std::chrono::time_point<Clock, Duration>& when) {
    return taken_if(permits_.try_acquire_until(std::move(stop), when));
  }
  /// co_await gives a slot and blocks no thread; in kgate/async.hpp, which says what the options are.
  template <class... Options>
  [[nodiscard]] auto async_acquire(Options... options);
  /// Refuses waiters and all later requests, by an exception or by nothing;
  /// those inside stay.
  void close() { permits_.close(); }
  bool closed() const noexcept { return permits_.closed(); }
  /// Changes the number of slots. More: those queued are admitted at once.
  /// Fewer: those inside and those admitted already stay and keep their
  /// numbers; those admitted later get numbers below k. Does not wait.
  /// Nothing if closed.
  /// @throws std::invalid_argument unless 1 <= k <= capacity()
  void resize(std::ptrdiff_t k) {
    if (k > capacity())
      detail::throw_or_stop<std::invalid_argument>(
          "kgate::slots: k must be at least 1 and at most the capacity, which is at most max()");
    permits_.resize(k);
  }
  /// Gives a slot back. One that is not taken stops the program.
  void release(std::ptrdiff_t number) {
    KGATE_EXPECTS(number >= 0 && number < capacity(), "release of a slot that does not exist");
    if (names_in_word()) [[likely]]
      return permits_.release_named(static_cast<int>(number));
    no_statistics uncounted;
    process p({&uncounted}, this);
    KGATE_EXPECTS(names_.give_back(p, static_cast<int>(number)), "release of a slot that nobody holds");
    permits_.release();
  }

  /// k; 0 if closed.
  std::ptrdiff_t size() const noexcept { return permits_.permits(); }
  /// The most slots there can be, and so a bound on their numbers.
  std::ptrdiff_t capacity() const noexcept { return capacity_; }
  std::ptrdiff_t available() const noexcept { return permits_.available(); }
  std::ptrdiff_t holders() const noexcept { return permits_.holders(); }
  std::ptrdiff_t waiters() const noexcept { return permits_.waiters(); }
  const Statistics& counts() const noexcept { return permits_.counts(); }

 private:
  friend detail::suspended_slots;

  bool names_in_word() const noexcept { return capacity_ <= words::names_max; }
  std::ptrdiff_t take() {
    if (names_in_word()) return permits_.take_name();
    no_statistics uncounted;
    process p({&uncounted}, this);
    return names_.take(p, static_cast<int>(size()));
  }
  std::optional<std::ptrdiff_t> taken_if(bool inside) {
    return inside ? std::optional<std::ptrdiff_t>(take()) : std::nullopt;
  }

  permits permits_;
  std::ptrdiff_t capacity_;
  [[no_unique_address]] typename machine::Memory memory_;
  bitmap_names<machine> names_;
};

using slots = basic_slots<>;

namespace detail {
/// What waiting for slots without a thread uses of them.
struct suspended_slots {
  template <class Slots>
  static auto& permits_of(Slots& s) noexcept {
    return s.permits_;
  }
  /// A slot for one that has a permit.
  template <class Slots>
  static std::ptrdiff_t take(Slots& s) {
    return s.take();
  }
};
/// The semaphore behind slots.
template <class Slots>
using permits_type = std::remove_reference_t<decltype(suspended_slots::permits_of(std::declval<Slots&>()))>;
}  // namespace detail

/// One slot for as long as this object lives.
template <class Slots = slots>
class [[nodiscard]] basic_slot {
 public:
  basic_slot() noexcept = default;
  /// Waits for a slot.
  explicit basic_slot(Slots& from) : from_(&from), number_(from.acquire()) {}
  /// Takes over a slot that the caller has acquired.
  basic_slot(Slots& from, std::adopt_lock_t, std::ptrdiff_t number) noexcept : from_(&from), number_(number) {}
  /// Takes a slot if one is free; else is empty.
  basic_slot(Slots& from, std::try_to_lock_t) : basic_slot(from, from.try_acquire()) {}
  /// Waits no longer than `timeout`; then is empty.
  template <class Rep, class Period>
  basic_slot(Slots& from, const std::chrono::duration<Rep, Period>& timeout)
      : basic_slot(from, from.try_acquire_for(timeout)) {}
  /// Waits until stop is requested, and no longer than `timeout`; then is
  /// empty.
  template <class Rep, class Period>
  basic_slot(Slots& from, stop_token stop, const std::chrono::duration<Rep, Period>& timeout)
      : basic_slot(from, from.try_acquire_for(std::move(stop), timeout)) {}
  /// Waits until stop is requested; then is empty.
  basic_slot(Slots& from, stop_token stop) : basic_slot(from, from.acquire(std::move(stop))) {}

  basic_slot(basic_slot&& other) noexcept : from_(std::exchange(other.from_, nullptr)), number_(other.number_) {}
  basic_slot& operator=(basic_slot&& other) noexcept {
    if (this != &other) {
      reset();
      from_ = std::exchange(other.from_, nullptr);
      number_ = other.number_;
    }
    return *this;
  }
  ~basic_slot() { reset(); }

  explicit operator bool() const noexcept { return from_ != nullptr; }
  /// 0..k-1. On an empty one the program stops.
  std::ptrdiff_t number() const noexcept {
    KGATE_EXPECTS(from_ != nullptr, "an empty slot has no number");
    return number_;
  }
  /// Gives the slot back now.
  void reset() noexcept {
    if (from_ != nullptr) std::exchange(from_, nullptr)->release(number_);
  }
  /// Leaves the slot to the caller, which gives it back by release(), or never; its number, -1 if there is none.
  std::ptrdiff_t forget() noexcept { return std::exchange(from_, nullptr) != nullptr ? number_ : -1; }

 private:
  basic_slot(Slots& from, std::optional<std::ptrdiff_t> got) noexcept
      : from_(got ? &from : nullptr), number_(got.value_or(-1)) {}

  Slots* from_ = nullptr;
  std::ptrdiff_t number_ = -1;
};

template <class Slots, class... Rest>
basic_slot(Slots&, Rest...) -> basic_slot<Slots>;

using slot = basic_slot<>;

}  // namespace kgate
