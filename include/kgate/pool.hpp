// SPDX-License-Identifier: Apache-2.0
#pragma once

/// kgate::pool<T>: at most k objects, each lent to one borrower at a time; who finds none free waits its turn.
///
/// @code
///   kgate::pool<connection> connections(8, [](std::ptrdiff_t slot) { return connection(host); });
///   auto c = connections.borrow();
///   c->send(request);
/// @endcode

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <stop_token>
#include <utility>

#include "kgate/detail/cache_line.hpp"
#include "kgate/detail/fixed_array.hpp"
#include "kgate/slots.hpp"

namespace kgate {

/// An object belongs to a slot: it is made when its slot is borrowed for the first time, and used again by later borrowers.
/// Because low slots are given first, no more objects are made than were ever in use at once.
template <class T, class Slots = slots>
class pool {
 public:
  /// An object for as long as this lives. Empty if none was to be had.
  class lease {
   public:
    lease() noexcept = default;
    explicit operator bool() const noexcept { return static_cast<bool>(held_); }
    T& operator*() const noexcept { return **object_; }
    T* operator->() const noexcept { return &**object_; }
    std::ptrdiff_t slot() const noexcept { return held_.number(); }
    /// The object is no good any more (a broken connection): the next borrower of its slot gets a new one.
    void discard() {
      object_->reset();
      give_back();
    }
    /// Gives the object back now.
    void give_back() noexcept {
      object_ = nullptr;
      held_.reset();
    }

   private:
    friend class pool;
    lease(basic_slot<Slots> held, std::optional<T>& object) noexcept : held_(std::move(held)), object_(&object) {}

    basic_slot<Slots> held_;
    std::optional<T>* object_ = nullptr;
  };

  /// At most k objects; make(slot) makes one. What it throws, borrow throws, and the slot is free again.
  template <class Make>
  requires std::is_invocable_r_v<T, Make&, std::ptrdiff_t> pool(std::ptrdiff_t k, Make make, std::size_t places = 64)
      : slots_(k, places),
        make_(std::move(make)),
        objects_(static_cast<std::size_t>(k), [](std::size_t) { return place{}; }) {}
  /// Objects made by their default constructor.
  explicit pool(std::ptrdiff_t k) requires std::is_default_constructible_v<T>
      : pool(k, [](std::ptrdiff_t) { return T(); }) {}

  /// Waits in line for an object.
  [[nodiscard]] lease borrow() { return lend(basic_slot<Slots>(slots_)); }
  /// Empty if none is free now.
  [[nodiscard]] lease try_borrow() { return lend(basic_slot<Slots>(slots_, std::try_to_lock)); }
  /// Empty if `timeout` passed first.
  template <class Rep, class Period>
  [[nodiscard]] lease try_borrow_for(const std::chrono::duration<Rep, Period>& timeout) {
    return lend(basic_slot<Slots>(slots_, timeout));
  }
  /// Empty if stop was requested first.
  [[nodiscard]] lease borrow(std::stop_token stop) { return lend(basic_slot<Slots>(slots_, std::move(stop))); }

  /// k.
  std::ptrdiff_t size() const noexcept { return slots_.size(); }
  std::ptrdiff_t available() const noexcept { return slots_.available(); }
  std::ptrdiff_t waiters() const noexcept { return slots_.waiters(); }

 private:
  struct alignas(cache_line) place {
    std::optional<T> object;
  };

  lease lend(basic_slot<Slots> held) {
    if (!held) return {};
    std::optional<T>& object = objects_[static_cast<std::size_t>(held.number())].object;
    if (!object) object.emplace(make_(held.number()));
    return lease(std::move(held), object);
  }

  Slots slots_;
  std::function<T(std::ptrdiff_t)> make_;
  fixed_array<place> objects_;
};

}  // namespace kgate
