// SPDX-License-Identifier: Apache-2.0
#pragma once

/// kgate::resilient<T, K>: a shared object that goes on working while up to K-1 threads are stalled or dead inside it.
///
/// @code
///   using queue = kgate::priority_queue<long, 16>;
///   kgate::resilient<queue, 4> jobs;
///   jobs.apply(queue::insert(7));                  // any thread, no number needed
///   if (const auto least = jobs.apply(queue::delete_min())) run(least.value);
/// @endcode
///
/// T is any sequential object: objects/sequential.hpp says what that is; a priority queue, a counter, a FIFO queue and a small map
/// are there. How to choose K: docs/objects.md.

#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <stop_token>
#include <type_traits>
#include <utility>

#include "kgate/objects/counter.hpp"
#include "kgate/objects/fifo.hpp"
#include "kgate/objects/herlihy93.hpp"
#include "kgate/objects/map.hpp"
#include "kgate/objects/priority_queue.hpp"
#include "kgate/objects/sleepers.hpp"
#include "kgate/objects/wait_free.hpp"
#include "kgate/objects/word_slots.hpp"
#include "kgate/slots.hpp"

namespace kgate {

namespace detail {

/// K = 1 is mutual exclusion: the object need not be copied.
template <Sequential T>
class lone_object {
 public:
  explicit lone_object(const T& initial) : state_(initial) {}
  typename T::result apply(int, const typename T::operation& op) noexcept { return state_.apply(op); }
  static constexpr std::size_t blocks() noexcept { return 1; }
  static constexpr std::size_t block_bytes() noexcept { return sizeof(T); }

 private:
  T state_;
};

/// The object and the slots that number those who work on it.
template <Sequential T, int K, class Slots>
class numbered_object {
 public:
  using operation = typename T::operation;
  using result = typename T::result;

  explicit numbered_object(const T& initial) : slots_(K), object_(initial) {}

  result apply(const operation& op) { return carry_out(basic_slot<Slots>(slots_), op); }
  /// Nothing if no slot was got in this way.
  template <class How>
  std::optional<result> apply(const operation& op, const How& how) {
    const basic_slot<Slots> mine(slots_, how);
    return mine ? std::optional<result>(carry_out(mine, op)) : std::nullopt;
  }
  std::size_t blocks() const noexcept { return object_.blocks(); }
  std::size_t block_bytes() const noexcept { return object_.block_bytes(); }
  std::ptrdiff_t available() const noexcept { return slots_.available(); }

 private:
  result carry_out(const basic_slot<Slots>& mine, const operation& op) {
    const auto name = static_cast<int>(mine.number());
    // Slots that know at a glance who is inside save the object looking after the others.
    if constexpr (K > 1 && requires { slots_.taken(); })
      return object_.apply(name, op, [this](auto&) -> std::uint64_t { return slots_.taken(); });
    else
      return object_.apply(name, op);
  }

  Slots slots_;
  std::conditional_t<K == 1, lone_object<T>, wait_free<T, K>> object_;
};

/// An object that gives out the numbers itself: they are part of the word that says which version is current, so one
/// instruction enters and one both makes the change and leaves.
template <Sequential T, int K>
class naming_object {
  using machine = native<spin>;
  using process = machine::Process;
  using object = herlihy93<machine, T, K, herlihy93_named_rules>;

 public:
  using operation = typename T::operation;
  using result = typename T::result;

  explicit naming_object(const T& initial) : object_(memory_, initial) {}

  result apply(const operation& op) noexcept {
    process p(pid(0));
    entered mine;
    if (!object_.try_enter(p, mine)) mine = *wait_to_enter();
    return carry_out(p, mine, op);
  }
  /// Nothing if it did not get in in this way.
  template <class How>
  std::optional<result> apply(const operation& op, const How& how) noexcept {
    process p(pid(0));
    const auto mine = wait_to_enter(how);
    return mine ? std::optional<result>(carry_out(p, *mine, op)) : std::nullopt;
  }
  std::size_t blocks() const noexcept { return object_.blocks(); }
  std::size_t block_bytes() const noexcept { return object_.block_bytes(); }
  std::ptrdiff_t available() const noexcept {
    process p(pid(0));
    return std::popcount(object_.free_names(p));
  }

 private:
  using entered = typename object::entered;

  template <class... How>
  [[gnu::noinline]] std::optional<entered> wait_to_enter(const How&... how) noexcept {
    process p(pid(0));
    entered mine;
    const bool inside = sleepers_.until([&]() noexcept { return object_.try_enter(p, mine); }, how...);
    return inside ? std::optional<entered>(mine) : std::nullopt;
  }
  [[gnu::always_inline]] result carry_out(process& p, entered mine, const operation& op) noexcept {
    const result got = object_.apply(p, mine, op);
    sleepers_.freed();
    return got;
  }

  [[no_unique_address]] machine::Memory memory_;
  mutable object object_;
  sleepers sleepers_;
};

template <Sequential T, int K, class Slots>
using resilient_object =
    std::conditional_t<std::is_same_v<Slots, word_slots> && (K > 1) && (K <= herlihy93_named_rules::processes_max),
                       naming_object<T, K>, numbered_object<T, K, Slots>>;

}  // namespace detail

/// At most K threads work on the object at a time (k-assignment); among these nobody waits for anybody (wait_free<T, K>). So
/// the others go on if up to K-1 threads stop for ever inside apply, wherever: preempted, stopped by a debugger, killed. With
/// K stopped inside, everybody waits. K = 1 is an ordinary lock.
///
/// @tparam Slots  who may work, and under which number: kgate::slots, in some fairness, or word_slots, which is the default up
///                to K = 32; made as Slots(K). With word_slots the object contains no pointers and may be placed in memory that
///                processes share.
template <Sequential T, int K, class Slots = std::conditional_t<K <= word_slots::max(), word_slots, slots>>
class resilient {
  static_assert(K >= 1);

 public:
  using operation = typename T::operation;
  using result = typename T::result;

  /// @throws std::invalid_argument if Slots cannot have K slots
  explicit resilient(const T& initial = T()) : object_(initial) {}
  resilient(const resilient&) = delete;
  resilient& operator=(const resilient&) = delete;

  /// Carries out op, waiting while K others are at work.
  result apply(const operation& op) { return object_.apply(op); }
  /// Nothing if K others are at work now: then op was not carried out.
  [[nodiscard]] std::optional<result> try_apply(const operation& op) { return object_.apply(op, std::try_to_lock); }
  /// Nothing if K others were at work until `timeout` had passed: then op was not carried out. Once begun an operation is not
  /// given up; it ends by itself.
  template <class Rep, class Period>
  [[nodiscard]] std::optional<result> try_apply_for(const operation& op,
                                                    const std::chrono::duration<Rep, Period>& timeout) {
    return object_.apply(op, timeout);
  }
  /// Nothing if stop was requested first.
  [[nodiscard]] std::optional<result> apply(const operation& op, const std::stop_token& stop) {
    return object_.apply(op, stop);
  }

  /// How many may work at once; one less may die.
  static constexpr int size() noexcept { return K; }
  /// K+1 blocks of this many bytes hold the state and K results; a single one if K = 1.
  std::size_t blocks() const noexcept { return object_.blocks(); }
  std::size_t block_bytes() const noexcept { return object_.block_bytes(); }
  /// The slots that nobody works in now.
  std::ptrdiff_t available() const noexcept { return object_.available(); }

 private:
  detail::resilient_object<T, K, Slots> object_;
};

}  // namespace kgate
