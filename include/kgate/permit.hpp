// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kgate/detail/cxx20.hpp"

/// kgate::basic_permit: permits of any kgate semaphore, handed back at the end of a block.

#include <chrono>
#include <cstddef>
#include <mutex>
#include <utility>

#include "kgate/detail/contracts.hpp"
#include "kgate/stop_token.hpp"

namespace kgate {

/// w permits of a semaphore for as long as this object lives. Empty if there are none.
template <class Semaphore>
class [[nodiscard]] basic_permit {
 public:
  basic_permit() noexcept = default;
  /// Waits for the permits.
  explicit basic_permit(Semaphore& from, std::ptrdiff_t w = 1) : from_(&from), w_(w) { from.acquire(w); }
  /// Takes over permits that the caller has acquired.
  basic_permit(Semaphore& from, std::adopt_lock_t, std::ptrdiff_t w = 1) noexcept : from_(&from), w_(w) {}
  /// Takes the permits if they are free; else is empty.
  basic_permit(Semaphore& from, std::try_to_lock_t, std::ptrdiff_t w = 1)
      : basic_permit(from.try_acquire(w), from, w) {}
  /// Waits no longer than `timeout`; then is empty.
  template <class Rep, class Period>
  basic_permit(Semaphore& from, const std::chrono::duration<Rep, Period>& timeout, std::ptrdiff_t w = 1)
      : basic_permit(from.try_acquire_for(timeout, w), from, w) {}
  /// Waits until stop is requested; then is empty.
  basic_permit(Semaphore& from, stop_token stop, std::ptrdiff_t w = 1)
      : basic_permit(from.acquire(std::move(stop), w), from, w) {}

  basic_permit(basic_permit&& other) noexcept
      : from_(std::exchange(other.from_, nullptr)), w_(std::exchange(other.w_, 0)) {}
  basic_permit& operator=(basic_permit&& other) noexcept {
    if (this != &other) {
      reset();
      from_ = std::exchange(other.from_, nullptr);
      w_ = std::exchange(other.w_, 0);
    }
    return *this;
  }
  ~basic_permit() { reset(); }

  explicit operator bool() const noexcept { return from_ != nullptr; }
  /// How many permits; 0 if empty.
  std::ptrdiff_t count() const noexcept { return w_; }
  /// Hands the permits back now.
  void reset() noexcept {
    if (from_ != nullptr) std::exchange(from_, nullptr)->release(std::exchange(w_, 0));
  }
  /// Gives n of the permits to a permit of its own. 1 <= n <= count(), else the program stops.
  basic_permit split(std::ptrdiff_t n) {
    KGATE_EXPECTS(n >= 1 && n <= w_, "split of fewer than one permit, or of more than there are");
    basic_permit part(*from_, std::adopt_lock, n);
    w_ -= n;
    if (w_ == 0) from_ = nullptr;
    return part;
  }
  /// Takes over the permits of `other`, which must be of the same semaphore; empty ones fit all.
  void merge(basic_permit&& other) {
    if (!other) return;
    KGATE_EXPECTS(from_ == nullptr || from_ == other.from_, "merge of permits of different semaphores");
    KGATE_EXPECTS(this != &other, "merge of a permit with itself");
    from_ = std::exchange(other.from_, nullptr);
    w_ += std::exchange(other.w_, 0);
  }
  /// Leaves the permits to the caller, which hands them back by release(), or never; how many.
  std::ptrdiff_t forget() noexcept {
    from_ = nullptr;
    return std::exchange(w_, 0);
  }

 private:
  basic_permit(bool taken, Semaphore& from, std::ptrdiff_t w) noexcept
      : from_(taken ? &from : nullptr), w_(taken ? w : 0) {}

  Semaphore* from_ = nullptr;
  std::ptrdiff_t w_ = 0;
};

template <class Semaphore, class... Rest>
basic_permit(Semaphore&, Rest...) -> basic_permit<Semaphore>;

}  // namespace kgate
