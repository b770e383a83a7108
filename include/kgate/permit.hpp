// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kgate/detail/cxx20.hpp"

/// kgate::permit: permits of any kgate semaphore, handed back at the end of a block. kgate::basic_permit<S>: of
/// semaphores of type S only.

#include <chrono>
#include <concepts>
#include <cstddef>
#include <mutex>
#include <utility>

#include "kgate/detail/contracts.hpp"
#include "kgate/stop_token.hpp"

namespace kgate {

/// As the semaphore of a basic_permit: one of whatever type.
struct any_semaphore {};

namespace detail {

template <class T>
concept semaphore_of_permits = requires(T& s, std::ptrdiff_t w) {
  s.acquire(w);
  { s.try_acquire(w) } -> std::same_as<bool>;
  s.release(w);
};

/// Where permits are handed back.
template <class Semaphore>
class permit_origin {
 public:
  permit_origin() noexcept = default;
  explicit permit_origin(Semaphore& from) noexcept : at_(&from) {}
  explicit operator bool() const noexcept { return at_ != nullptr; }
  bool operator==(const permit_origin& other) const noexcept { return at_ == other.at_; }
  void release(std::ptrdiff_t w) const { at_->release(w); }

 private:
  friend permit_origin<any_semaphore>;
  Semaphore* at_ = nullptr;
};
/// Where its type is known to the compiler, as in a block with a local permit, nothing is called indirectly.
template <>
class permit_origin<any_semaphore> {
 public:
  permit_origin() noexcept = default;
  template <semaphore_of_permits Semaphore>
  explicit permit_origin(Semaphore& from) noexcept
      : at_(&from), release_([](void* at, std::ptrdiff_t w) { static_cast<Semaphore*>(at)->release(w); }) {}
  template <class Semaphore>
  explicit permit_origin(const permit_origin<Semaphore>& other) noexcept {
    if (other) *this = permit_origin(*other.at_);
  }
  explicit operator bool() const noexcept { return at_ != nullptr; }
  bool operator==(const permit_origin& other) const noexcept { return at_ == other.at_; }
  void release(std::ptrdiff_t w) const { release_(at_, w); }

 private:
  void* at_ = nullptr;
  void (*release_)(void*, std::ptrdiff_t) = nullptr;
};

/// Semaphores that a basic_permit<Semaphore> may be of.
template <class From, class Semaphore>
concept semaphore_for = semaphore_of_permits<From> && std::constructible_from<permit_origin<Semaphore>, From&>;

}  // namespace detail

/// w permits of a semaphore for as long as this object lives. Empty if there are none.
template <class Semaphore>
class [[nodiscard]] basic_permit {
  using origin = detail::permit_origin<Semaphore>;

 public:
  basic_permit() noexcept = default;
  /// Waits for the permits.
  template <detail::semaphore_for<Semaphore> From>
  [[nodiscard]] explicit basic_permit(From& from, std::ptrdiff_t w = 1) : from_(from), w_(w) {
    from.acquire(w);
  }
  /// Takes over permits that the caller has acquired, such as those that forget() has left to it; is empty of none.
  template <detail::semaphore_for<Semaphore> From>
  [[nodiscard]] basic_permit(From& from, std::adopt_lock_t, std::ptrdiff_t w = 1) noexcept
      : basic_permit(w != 0, from, w) {
    KGATE_EXPECTS(w >= 0, "a permit adopts fewer than no permits");
  }
  /// Takes the permits if they are free; else is empty.
  template <detail::semaphore_for<Semaphore> From>
  [[nodiscard]] basic_permit(From& from, std::try_to_lock_t, std::ptrdiff_t w = 1)
      : basic_permit(from.try_acquire(w), from, w) {}
  /// Waits no longer than `timeout`; then is empty.
  template <detail::semaphore_for<Semaphore> From, class Rep, class Period>
  [[nodiscard]] basic_permit(From& from, const std::chrono::duration<Rep, Period>& timeout, std::ptrdiff_t w = 1)
      : basic_permit(from.try_acquire_for(timeout, w), from, w) {}
  /// Waits until stop is requested; then is empty.
  template <detail::semaphore_for<Semaphore> From>
  [[nodiscard]] basic_permit(From& from, stop_token stop, std::ptrdiff_t w = 1)
      : basic_permit(from.acquire(std::move(stop), w), from, w) {}
  /// Takes over those of a permit that knows the type of its semaphore.
  template <class Known>
  basic_permit(basic_permit<Known>&& other) noexcept requires std::same_as<Semaphore, any_semaphore>
      : from_(std::exchange(other.from_, {})), w_(std::exchange(other.w_, 0)) {}

  basic_permit(basic_permit&& other) noexcept : from_(std::exchange(other.from_, {})), w_(std::exchange(other.w_, 0)) {}
  basic_permit& operator=(basic_permit&& other) noexcept {
    if (this != &other) {
      reset();
      from_ = std::exchange(other.from_, {});
      w_ = std::exchange(other.w_, 0);
    }
    return *this;
  }
  ~basic_permit() { reset(); }

  explicit operator bool() const noexcept { return static_cast<bool>(from_); }
  /// How many permits; 0 if empty.
  std::ptrdiff_t count() const noexcept { return w_; }
  /// Hands the permits back now.
  void reset() noexcept {
    if (from_) std::exchange(from_, {}).release(std::exchange(w_, 0));
  }
  /// Gives n of the permits to a permit of its own. 1 <= n <= count(), else the program stops.
  basic_permit split(std::ptrdiff_t n) {
    KGATE_EXPECTS(n >= 1 && n <= w_, "split of fewer than one permit, or of more than there are");
    basic_permit part;
    part.from_ = from_;
    part.w_ = n;
    w_ -= n;
    if (w_ == 0) from_ = {};
    return part;
  }
  /// Takes over the permits of `other`, which must be of the same semaphore; empty ones fit all.
  void merge(basic_permit&& other) {
    if (!other) return;
    KGATE_EXPECTS(!from_ || from_ == other.from_, "merge of permits of different semaphores");
    KGATE_EXPECTS(this != &other, "merge of a permit with itself");
    from_ = std::exchange(other.from_, {});
    w_ += std::exchange(other.w_, 0);
  }
  /// Leaves the permits to the caller, which hands them back by release(), or never; how many.
  std::ptrdiff_t forget() noexcept {
    from_ = {};
    return std::exchange(w_, 0);
  }

 private:
  template <class>
  friend class basic_permit;
  template <class From>
  basic_permit(bool taken, From& from, std::ptrdiff_t w) noexcept
      : from_(taken ? origin(from) : origin()), w_(taken ? w : 0) {}

  origin from_;
  std::ptrdiff_t w_ = 0;
};

template <class Semaphore, class... Rest>
basic_permit(Semaphore&, Rest...) -> basic_permit<Semaphore>;

/// w permits of any kgate semaphore for as long as this object lives.
using permit = basic_permit<any_semaphore>;

}  // namespace kgate
