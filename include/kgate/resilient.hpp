// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kgate/detail/cxx20.hpp"

/// kgate::resilient<T, K>: a shared object that goes on working while up to K-1 threads are stalled or dead inside it.
///
/// @code
///   using queue = kgate::priority_queue<long, 16>;
///   kgate::resilient<queue, 4> jobs;
///   jobs.apply(queue::insert(7));                  // any thread, no number needed
///   if (const auto least = jobs.apply(queue::delete_min())) run(least.value);
/// @endcode
///
/// T is any sequential object: objects/sequential.hpp says what that is; a priority queue, a counter, a FIFO queue and
/// a small map are there. How to choose K: docs/objects.md.

#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>

#include "kgate/objects/builders.hpp"
#include "kgate/objects/counter.hpp"
#include "kgate/objects/fifo.hpp"
#include "kgate/objects/healing_object.hpp"
#include "kgate/objects/in_progress.hpp"
#include "kgate/objects/map.hpp"
#include "kgate/objects/named_object.hpp"
#include "kgate/objects/priority_queue.hpp"
#include "kgate/objects/sleepers.hpp"
#include "kgate/objects/thread_identity.hpp"
#include "kgate/objects/usable_between_processes.hpp"
#include "kgate/objects/wait_free.hpp"
#include "kgate/objects/word_slots.hpp"
#include "kgate/slots.hpp"
#include "kgate/stop_token.hpp"

namespace kgate {

/// How threads get to work on a resilient object: each takes a slot that it finds free. The default.
struct any_order {};
/// The same in memory that processes share: the slot of a process that died is taken over by the next. K up to 16.
struct healing {};

namespace detail {

/// K = 1 is mutual exclusion: the object need not be copied.
template <Sequential T>
class lone_object {
 public:
  lone_object() = default;
  explicit lone_object(const T& initial) : state_(initial) {}
  typename T::result apply(int, const typename T::operation& op) noexcept { return state_.apply(op); }
  static constexpr std::size_t blocks() noexcept { return 1; }
  static constexpr std::size_t block_bytes() noexcept { return sizeof(T); }

 private:
  T state_{};
};

template <Sequential T, int K>
struct working_object {
  using type = wait_free<T, K>;
};
template <Sequential T>
struct working_object<T, 1> {
  using type = lone_object<T>;
};

/// The object and the slots that number the threads at work on it.
template <Sequential T, int K, class Slots>
class numbered_object {
 public:
  using operation = typename T::operation;
  using result = typename T::result;

  numbered_object() : slots_(K) {}
  explicit numbered_object(const T& initial) : slots_(K), object_(initial) {}

  /// False if no slot was acquired with `how`.
  template <class... How>
  bool apply(in_words<result>& got, const operation& op, const How&... how) {
    const in_progress here(this);
    const basic_slot<Slots> mine(slots_, how...);
    if (mine) got = object_.apply(static_cast<int>(mine.number()), op);
    return static_cast<bool>(mine);
  }
  std::size_t blocks() const noexcept { return object_.blocks(); }
  std::size_t block_bytes() const noexcept { return object_.block_bytes(); }
  std::ptrdiff_t available() const noexcept { return slots_.available(); }

 private:
  Slots slots_;
  typename working_object<T, K>::type object_;
};

/// More blocks cost memory, and large states are slow to copy anyway.
template <Sequential T>
inline constexpr std::size_t builders_for = sizeof(T) <= 64     ? 16
                                            : sizeof(T) <= 256  ? 8
                                            : sizeof(T) <= 1024 ? 4
                                                                : 0;

/// Up to so many the names are part of the word that says which version is current, so one instruction enters and one
/// both makes the change and leaves.
inline constexpr int names_in_word_max = 16;

template <int K, std::size_t Builders>
struct any_order_rules : std::conditional_t<K <= names_in_word_max, named_rules, herlihy93_rules> {
  static constexpr bool keeps_copies = K <= 64;
  static constexpr std::size_t builders = Builders;
};

/// An object with blocks for so many threads, the first that use it, and K names for those that lose or have none.
template <Sequential T, int K, std::size_t Builders>
class any_order_object {
  using machine = native<spin>;
  using process = machine::Process;
  using rules = any_order_rules<K, Builders>;
  using object = named_object<machine, T, K, rules>;
  static constexpr bool names_in_word = rules::assigns_names;

 public:
  using operation = typename T::operation;
  using result = typename T::result;

  explicit any_order_object(const T& initial = T()) : names_(K), object_(memory_, initial) {}

  /// False if it did not enter with `how`.
  template <class... How>
  [[gnu::always_inline]] bool apply(in_words<result>& got, const operation& op, const How&... how) noexcept {
    process p(pid(0));
    if constexpr (rules::builders > 0) {
      if (const typename builders_type::lease mine(builders_); mine)
        return attempt(p, mine.index(), op, got) || apply_overtaken(p, mine.index(), got, op, how...);
    }
    return apply_inside(p, got, op, how...);
  }
  std::size_t blocks() const noexcept { return object_.blocks(); }
  std::size_t block_bytes() const noexcept { return object_.block_bytes(); }
  std::ptrdiff_t available() const noexcept {
    if constexpr (names_in_word) {
      process p(pid(0));
      return std::popcount(object_.free_names(p));
    } else {
      return names_.available();
    }
  }

 private:
  using builders_type = builders<rules::builders == 0 ? 1 : rules::builders>;
  static constexpr int attempts = 4;
  static constexpr int pauses = 8;

  /// The processes inside, for an object that does not know.
  auto taken() noexcept {
    if constexpr (names_in_word)
      return everybody();
    else
      return [this](auto&, std::size_t i) -> std::uint64_t { return names_.taken(i); };
  }

  [[gnu::always_inline]] bool attempt(process& p, std::size_t builder, const operation& op,
                                      in_words<result>& got) noexcept {
    return reads_only<T>(op) ? object_.try_read(p, builder, op, got) : object_.attempt(p, builder, op, got, taken());
  }
  template <class... How>
  [[gnu::noinline]] bool apply_overtaken(process& p, std::size_t builder, in_words<result>& got, const operation& op,
                                         const How&... how) noexcept {
    for (int i = 1; i < attempts; ++i) {
      p.give_way(pauses << i);
      if (attempt(p, builder, op, got)) return true;
    }
    return apply_inside(p, got, op, how...);
  }
  template <class... How>
  [[gnu::noinline]] bool apply_inside(process& p, in_words<result>& got, const operation& op,
                                      const How&... how) noexcept {
    const in_progress here(this);
    if (reads_only<T>(op))
      for (int i = 0; i < attempts; ++i)
        if (object_.try_read(p, op, got)) return true;
    if constexpr (names_in_word) {
      typename object::entered mine;
      if (!names_.until([&]() noexcept { return object_.try_enter(p, mine); }, how...)) return false;
      got = object_.apply(p, mine, op);
      names_.freed();
      return true;
    } else {
      const basic_slot<basic_word_slots<K>> mine(names_, how...);
      if (mine) got = object_.apply(p, static_cast<int>(mine.number()), op, taken());
      return static_cast<bool>(mine);
    }
  }

  struct sleepers_only : detail::sleepers {
    explicit sleepers_only(int) {}
  };

  [[no_unique_address]] machine::Memory memory_;
  mutable std::conditional_t<names_in_word, sleepers_only, basic_word_slots<K>> names_;
  mutable object object_;
  builders_type builders_;
};

/// Names behind locks that tell when their owner died.
template <Sequential T, int K>
class healed_object {
  static_assert(K <= names_in_word_max, "an object that heals has at most 16 slots");
  using machine = native<spin>;
  using process = machine::Process;

 public:
  using operation = typename T::operation;
  using result = typename T::result;

  explicit healed_object(const T& initial = T()) : object_(memory_, K, initial) {}

  /// False if it did not enter with `how`.
  template <class... How>
  bool apply(in_words<result>& got, const operation& op, const How&... how) noexcept {
    const in_progress here(this);
    process p(pid(0));
    if (reads_only<T>(op))
      for (int i = 0; i < reads; ++i)
        if (object_.try_read(p, op, got)) return true;
    const auto first = static_cast<int>(thread_identity::number_of(thread_identity::mine()) % K);
    if (!sleepers_.until([&]() noexcept { return object_.try_apply(p, first, op, got); }, how...)) return false;
    sleepers_.freed();
    return true;
  }
  std::size_t blocks() const noexcept { return object_.blocks(); }
  std::size_t block_bytes() const noexcept { return object_.block_bytes(); }
  std::ptrdiff_t available() const noexcept {
    process p(pid(0));
    return std::popcount(object_.free_names(p));
  }

 private:
  static constexpr int reads = 4;

  [[no_unique_address]] machine::Memory memory_;
  mutable healing_object<machine, T, K, detail::robust_locks<static_cast<std::size_t>(K)>> object_;
  detail::sleepers sleepers_;
};

template <Sequential T, int K, class Slots>
struct resilient_object {
  using type = numbered_object<T, K, Slots>;
  static constexpr bool between_processes = usable_between_processes<Slots>;
};
template <Sequential T, int K>
struct resilient_object<T, K, any_order> {
  using type =
      std::conditional_t<K == 1, numbered_object<T, 1, basic_word_slots<1>>, any_order_object<T, K, builders_for<T>>>;
  static constexpr bool between_processes = true;
};
template <Sequential T, int K, int Max>
requires(K > 1 && K <= Max) struct resilient_object<T, K, basic_word_slots<Max>> {
  using type = any_order_object<T, K, 0>;
  static constexpr bool between_processes = true;
};
template <Sequential T, int K>
struct resilient_object<T, K, healing> {
  using type = healed_object<T, K>;
  static constexpr bool between_processes = true;
};

}  // namespace detail

/// At most K threads work on the object at a time under a name (k-assignment); none of these waits for another. So
/// the others go on if up to K-1 threads stop for ever inside apply, wherever: preempted, stopped by a debugger,
/// killed. With K stopped inside, all others wait. K = 1 is an ordinary lock, unless it heals.
///
/// @tparam Slots  how threads come to work on it:
///                - any_order: the first threads that use the object own a block of it, try once outside, where no
///                  other waits for them, and take a name only when they are overtaken. Right between processes.
///                - healing: for processes. A name whose owner died comes back, so any number may die.
///                - word_slots: a name for every operation, in no order. Right between processes.
///                - kgate::slots in some fairness: a name for every operation, in order. For threads of one process.
///                The last two are made as Slots(K).
template <Sequential T, int K, class Slots = any_order>
requires(SmallState<T> || (K == 1 && !std::is_same_v<Slots, healing>)) class resilient {
  static_assert(K >= 1);

 public:
  using operation = typename T::operation;
  using result = typename T::result;

  /// From the state T(), or a given one.
  /// @throws std::invalid_argument if Slots cannot have K slots
  resilient() = default;
  explicit resilient(const T& initial) : object_(initial) {}
  resilient(const resilient&) = delete;
  resilient& operator=(const resilient&) = delete;

  /// Carries out op, waiting while K others are at work. op itself must not use this object: the program stops.
  result apply(const operation& op) {
    in_words<result> got;
    object_.apply(got, op);
    return got.value();
  }
  /// Nothing if it was overtaken and K others are at work now: then op was not carried out.
  [[nodiscard]] std::optional<result> try_apply(const operation& op) { return tried(op, std::try_to_lock); }
  /// Nothing if K others were at work until `timeout` had passed: then op was not carried out. Once begun an operation
  /// is not given up; it ends by itself.
  template <class Rep, class Period>
  [[nodiscard]] std::optional<result> try_apply_for(const operation& op,
                                                    const std::chrono::duration<Rep, Period>& timeout) {
    return tried(op, timeout);
  }
  /// Nothing if stop was requested first.
  [[nodiscard]] std::optional<result> apply(const operation& op, const stop_token& stop) { return tried(op, stop); }

  /// How many may work at once; one less may die.
  static constexpr int size() noexcept { return K; }
  /// So many blocks of so many bytes hold the state and K results: K+1, and in any order one for each thread that may
  /// own one; a single one behind a lock.
  std::size_t blocks() const noexcept { return object_.blocks(); }
  std::size_t block_bytes() const noexcept { return object_.block_bytes(); }
  /// The slots that no thread works in now.
  std::ptrdiff_t available() const noexcept { return object_.available(); }

 private:
  template <class How>
  std::optional<result> tried(const operation& op, const How& how) {
    in_words<result> got;
    return object_.apply(got, op, how) ? std::optional<result>(got.value()) : std::nullopt;
  }

  typename detail::resilient_object<T, K, Slots>::type object_;
};

template <Sequential T, int K, class Slots>
inline constexpr bool usable_between_processes<resilient<T, K, Slots>> =
    detail::resilient_object<T, K, Slots>::between_processes;

}  // namespace kgate
