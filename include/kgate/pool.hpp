// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kgate/detail/cxx20.hpp"

/// kgate::pool<T>: at most k objects, each lent to one borrower at a time; a
/// borrower that finds none free waits its turn.
///
/// @code
///   kgate::pool<connection> connections(8, [](std::ptrdiff_t slot) { return connection(host); });
///   auto c = connections.borrow(); c->send(request);
/// @endcode

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "kgate/detail/cache_line.hpp"
#include "kgate/detail/contracts.hpp"
#include "kgate/detail/fixed_array.hpp"
#include "kgate/slots.hpp"
#include "kgate/stop_token.hpp"

namespace kgate {

namespace detail {
struct suspended_pool;
}

/// An object belongs to a slot: it is made when its slot is borrowed for the
/// first time, and used again by later borrowers. Because low slots are given
/// first, no more objects are made than were ever in use at once. T need be
/// neither copyable nor movable.
template <class T, class Slots = slots>
class pool {
  /// Where the object of a slot is, if it has been made. Only the holder of the
  /// slot uses it.
  class alignas(std::max(detail::cache_line, alignof(T))) entry {
   public:
    entry() = default;
    entry(const entry&) = delete;
    entry& operator=(const entry&) = delete;
    ~entry() { destroy(); }

    bool made() const noexcept { return made_; }
    void* memory() noexcept { return bytes_; }
    void set_made() noexcept { made_ = true; }
    T& object() noexcept { return *std::launder(reinterpret_cast<T*>(bytes_)); }
    void destroy() noexcept {
      if (std::exchange(made_, false)) std::destroy_at(&object());
    }

   private:
    alignas(T) std::byte bytes_[sizeof(T)];
    bool made_ = false;
  };

 public:
  /// An object for as long as this lives. Empty if none was to be had, and
  /// after a move, give_back or discard. It must not outlive the pool.
  class [[nodiscard]] lease {
   public:
    lease() noexcept = default;
    lease(lease&& other) noexcept
        : from_(other.from_), held_(std::move(other.held_)), entry_(std::exchange(other.entry_, nullptr)) {}
    lease& operator=(lease&& other) noexcept {
      if (this != &other) {
        give_back();
        from_ = other.from_;
        held_ = std::move(other.held_);
        entry_ = std::exchange(other.entry_, nullptr);
      }
      return *this;
    }
    ~lease() { give_back(); }

    explicit operator bool() const noexcept { return entry_ != nullptr; }
    /// The object. On an empty lease the program stops.
    T& operator*() const noexcept { return entry().object(); }
    T* operator->() const noexcept { return &entry().object(); }
    /// 0..k-1. On an empty lease the program stops.
    std::ptrdiff_t slot() const noexcept { return static_cast<void>(entry()), held_.number(); }
    /// The object is no good any more (a broken connection): it is destroyed,
    /// and the next borrower of its slot gets a new one. Nothing on an empty
    /// lease.
    void discard() noexcept {
      if (entry_ != nullptr) entry_->destroy();
      give_back();
    }
    /// Gives the object back now. Nothing on an empty lease.
    void give_back() noexcept {
      if (entry_ != nullptr && held_.number() >= from_->size()) entry_->destroy();  // after a resize to fewer
      entry_ = nullptr;
      held_.reset();
    }

   private:
    friend class pool;
    using entry_type = pool::entry;
    lease(const pool& from, basic_slot<Slots> held, entry_type& entry) noexcept
        : from_(&from), held_(std::move(held)), entry_(&entry) {}
    entry_type& entry() const noexcept {
      KGATE_EXPECTS(entry_ != nullptr, "an empty lease has no object");
      return *entry_;
    }

    const pool* from_ = nullptr;
    basic_slot<Slots> held_;
    entry_type* entry_ = nullptr;
  };

  /// At most k objects; make(slot) makes one. It may run in several threads at
  /// once, for different slots. What it throws, borrow throws, and the slot is
  /// free again.
  template <class Make>
  requires requires(Make& make, std::ptrdiff_t number) { T(make(number)); }
  pool(std::ptrdiff_t k, Make make) : pool(k, std::move(make), k) {}
  /// The same with room for as many as `capacity` objects, for resize().
  template <class Make>
  requires requires(Make& make, std::ptrdiff_t number) { T(make(number)); }
  pool(std::ptrdiff_t k, Make make, std::ptrdiff_t capacity)
      : slots_(checked(k, capacity), capacity),
        make_([make = std::make_shared<Make>(std::move(make))](void* memory, std::ptrdiff_t number) {
          ::new (memory) T((*make)(number));  // shared, since std::function wants what can be copied
        }),
        entries_(static_cast<std::size_t>(capacity), [](std::size_t) { return entry(); }) {}
  /// Objects made by their default constructor.
  explicit pool(std::ptrdiff_t k) requires std::is_default_constructible_v<T>
      : pool(k, [](std::ptrdiff_t) { return T(); }) {}
  pool(const pool&) = delete;
  pool& operator=(const pool&) = delete;
  /// All objects must have been given back, or the program stops.
  ~pool() { KGATE_EXPECTS(slots_.holders() == 0, "a pool is destroyed while an object is lent"); }

  /// Waits in the queue for an object.
  [[nodiscard]] lease borrow() { return lend(basic_slot<Slots>(slots_)); }
  /// Empty if none is free now.
  [[nodiscard]] lease try_borrow() { return lend(basic_slot<Slots>(slots_, std::try_to_lock)); }
  /// Empty if `timeout` passed first.
  template <class Rep, class Period>
  [[nodiscard]] lease try_borrow_for(const std::chrono::duration<Rep, Period>& timeout) {
    return lend(basic_slot<Slots>(slots_, timeout));
  }
  /// Empty if stop was requested first, or `timeout` passed.
  template <class Rep, class Period>
  [[nodiscard]] lease try_borrow_for(stop_token stop, const std::chrono::duration<Rep, Period>& timeout) {
    return lend(basic_slot<Slots>(slots_, std::move(stop), timeout));
  }
  /// Empty if stop was requested first.
  [[nodiscard]] lease borrow(stop_token stop) { return lend(basic_slot<Slots>(slots_, std::move(stop))); }

  /// co_await gives a lease and blocks no thread; in kgate/async.hpp, which says what the options are.
  template <class... Options>
  [[nodiscard]] auto async_borrow(Options... options);

  /// Changes the number of objects, as slots::resize does. With fewer, objects
  /// of slots from k on are destroyed when they are given back; those not in
  /// use then are kept until the pool ends or has room for them again.
  /// @throws std::invalid_argument unless 1 <= k <= capacity()
  void resize(std::ptrdiff_t k) { slots_.resize(checked(k, capacity())); }
  /// Lends nothing any more: waiters and later calls get an exception (refused) or, with a limit, an empty lease. What
  /// is lent stays with its borrower, and is destroyed when it is given back. Final.
  void close() { slots_.close(); }
  bool closed() const noexcept { return slots_.closed(); }
  std::ptrdiff_t capacity() const noexcept { return slots_.capacity(); }

  /// k; 0 if closed.
  std::ptrdiff_t size() const noexcept { return slots_.size(); }
  std::ptrdiff_t available() const noexcept { return slots_.available(); }
  std::ptrdiff_t waiters() const noexcept { return slots_.waiters(); }

 private:
  friend detail::suspended_pool;

  static std::ptrdiff_t checked(std::ptrdiff_t k, std::ptrdiff_t capacity) {
    if (k < 1 || k > capacity || capacity > Slots::max())
      detail::throw_or_stop<std::invalid_argument>(
          "kgate::pool: k must be at least 1 and at most the capacity, which is at most max()");
    return k;
  }
  lease lend(basic_slot<Slots> held) {
    if (!held) return {};
    entry& its = entries_[static_cast<std::size_t>(held.number())];
    if (!its.made()) {
      make_(its.memory(), held.number());
      its.set_made();
    }
    return lease(*this, std::move(held), its);
  }

  Slots slots_;
  std::function<void(void*, std::ptrdiff_t)> make_;
  fixed_array<entry> entries_;
};

namespace detail {
/// What a pool lets those use that wait for it without a thread.
struct suspended_pool {
  template <class Pool>
  static auto& slots_of(Pool& from) noexcept {
    return from.slots_;
  }
  /// The object of a slot that the caller has, or nothing.
  template <class Pool>
  static auto lend(Pool& from, std::optional<std::ptrdiff_t> slot) {
    using held_slot = basic_slot<std::remove_reference_t<decltype(from.slots_)>>;
    return from.lend(slot ? held_slot(from.slots_, std::adopt_lock, *slot) : held_slot());
  }
};
}  // namespace detail

}  // namespace kgate
