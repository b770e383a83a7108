// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kgate/detail/cxx20.hpp"

/// kgate::semaphore: at most k inside, in the order they came.
///
/// @code
///   kgate::semaphore four(4);
///   {
///     kgate::permit inside(four);  // waits its turn; the permit goes back at the end of the block
///     ...
///   }
/// @endcode
///
/// The interface is that of std::counting_semaphore, with these differences: permits are handed back by those that took
/// them (more would be a programmer's error, and stops the program), the number of permits is a run-time value that can
/// be changed, waiting can also be ended by a std::stop_token, and a semaphore can be closed. The algorithms are
/// algorithms/ticket_queue.hpp and bounded_barging.hpp, the very texts the laboratory checks.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <stdexcept>
#include <type_traits>

#include "kgate/algorithms/bounded_barging.hpp"
#include "kgate/algorithms/ticket_queue.hpp"
#include "kgate/detail/cache_line.hpp"
#include "kgate/detail/contracts.hpp"
#include "kgate/detail/machines/native_waiting.hpp"
#include "kgate/detail/waiting/small_mutex.hpp"
#include "kgate/permit.hpp"
#include "kgate/stop_token.hpp"
#include "kgate/wait_policy.hpp"

namespace kgate {

/// Fairness: first come, first admitted.
struct fifo {
  static constexpr int overtakings_max = 0;
};

/// Fairness: at most b others pass one that is queued, if b >= 16k; else at most b and one for each permit. b is from
/// 2 to 40000. Keeps permits in use while the first waiter wakes up: much faster than fifo when threads outnumber
/// processors and hold permits for microseconds.
template <int b = 16000>
struct bounded_overtaking {
  static constexpr int overtakings_max = b;
};

/// What acquire throws where no wait could succeed.
class refused : public std::runtime_error {
 public:
  enum class reason : unsigned char {
    closed,     ///< the semaphore, slots or pool was closed
    too_heavy,  ///< more permits were asked for than there are, or than there are after a resize
  };
  explicit refused(reason why)
      : std::runtime_error(why == reason::closed ? "kgate: closed: nobody gets a permit any more"
                                                 : "kgate: more permits asked for than there are"),
        why_(why) {}
  reason why() const noexcept { return why_; }

 private:
  reason why_;
};

namespace detail {
template <class Semaphore>
struct suspension;

inline void throw_if_refused(outcome how) {
  if (how == outcome::closed) throw_or_stop<refused>(refused::reason::closed);
  if (how == outcome::too_heavy) throw_or_stop<refused>(refused::reason::too_heavy);
}

template <class Machine, int b, class Word>
struct semaphore_algorithm {
  using type = bounded_barging<Machine, b, Word>;
};
template <class Machine, class Word>
struct semaphore_algorithm<Machine, 0, Word> {
  using type = ticket_queue<Machine, Word>;
};
}  // namespace detail

/// A counting semaphore of k permits: 64 bytes without statistics, and it can be constinit.
///
/// Thread safe, except construction and destruction. It may be destroyed as soon as an acquire has returned after which
/// no thread waits and none calls it any more, also while the release that ended that acquire has not returned. (One
/// exception: a release during which resize to more was called must have returned.) Any number of threads may wait;
/// none polls, and each is woken for itself. A release may be called in a signal handler. Not copyable, not movable.
///
/// @tparam Fairness    fifo or bounded_overtaking<b>
/// @tparam WaitPolicy  adaptive, spin_park, spin_yield or spin
/// @tparam Statistics  no_statistics, which costs nothing, or statistics
/// @tparam Word        for slots.hpp
template <class Fairness = fifo, class WaitPolicy = adaptive, class Statistics = no_statistics,
          class Word = ticket_word<>>
class alignas(detail::cache_line) basic_semaphore {
  using machine = detail::native_waiting<WaitPolicy, Statistics>;
  using algorithm = typename detail::semaphore_algorithm<machine, Fairness::overtakings_max, Word>::type;
  using process = typename machine::Process;
  using Private = typename algorithm::Private;
  using L = typename algorithm::layout;
  using word = typename L::word;
  using protocol = detail::bucket_protocol<machine>;
  using statistics_type = Statistics;
  /// Error messages name what the user created: slots, or a semaphore.
  static constexpr bool of_slots = Word::names_max > 0;

 public:
  /// The largest k.
  static constexpr std::ptrdiff_t max() noexcept { return static_cast<std::ptrdiff_t>(L::permits_max); }

  /// k permits, all free.
  /// @throws std::invalid_argument unless 1 <= k <= max()
  constexpr explicit basic_semaphore(std::ptrdiff_t k) : basic_semaphore(k, 0) {}

  basic_semaphore(const basic_semaphore&) = delete;
  basic_semaphore& operator=(const basic_semaphore&) = delete;

  /// There may be no waiters: the program stops if there are. Permits still out are forgotten.
  ~basic_semaphore() {
    KGATE_EXPECTS(waiters() == 0, of_slots ? "slots destroyed while somebody waits for one"
                                           : "semaphore destroyed while somebody waits for it");
  }

  /// Takes w permits, all at once, waiting in the queue. No later request is admitted before, even if it asks for
  /// less (head-of-line rule): a large request delays those behind it, and cannot be starved by them. w < 1 and w >
  /// max() stop the program.
  /// @throws refused if w > permits(), now or after a resize while it waits, and if the semaphore is closed
  void acquire(std::ptrdiff_t w = 1) {
    if (w == 1) [[likely]] {
      if (!gate_.acquire(caller(), 1, unless_refused{this})) [[unlikely]]
        throw_refusal(1);
      note_grant();
    } else {
      detail::throw_if_refused(acquire_within({}, w));
    }
  }

  /// Takes w permits if they are free now. Does not overtake those queued.
  [[nodiscard]] bool try_acquire(std::ptrdiff_t w = 1) noexcept {
    check_weight(w);
    process p(caller(), gate_.key());
    const bool taken = gate_.try_enter(p, static_cast<word>(w));
    if (taken) note_grant();
    return taken;
  }

  /// As acquire, but gives up after `timeout`; a permit that comes at the last moment is taken. False if it gave up or
  /// was refused: then no permit was taken and it is no longer queued.
  template <class Rep, class Period>
  [[nodiscard]] bool try_acquire_for(const std::chrono::duration<Rep, Period>& timeout, std::ptrdiff_t w = 1) {
    return try_acquire(w) || acquire_within({detail::deadline_after(timeout), nullptr}, w) == outcome::acquired;
  }
  template <class Clock, class Duration>
  [[nodiscard]] bool try_acquire_until(const std::chrono::time_point<Clock, Duration>& when, std::ptrdiff_t w = 1) {
    return try_until(when, nullptr, w);
  }

  /// As acquire, but gives up when `stop` is requested. False if it gave up or was refused. A permit that is free is
  /// taken even if stop was requested before.
  [[nodiscard]] bool acquire(stop_token stop, std::ptrdiff_t w = 1) {
    return try_acquire(w) ||
           acquire_within({detail::wait_limit::clock::time_point::max(), &stop}, w) == outcome::acquired;
  }
  /// As acquire, but gives up when `stop` is requested or after `timeout`.
  template <class Rep, class Period>
  [[nodiscard]] bool try_acquire_for(stop_token stop, const std::chrono::duration<Rep, Period>& timeout,
                                     std::ptrdiff_t w = 1) {
    return try_acquire(w) || acquire_within({detail::deadline_after(timeout), &stop}, w) == outcome::acquired;
  }
  template <class Clock, class Duration>
  [[nodiscard]] bool try_acquire_until(stop_token stop, const std::chrono::time_point<Clock, Duration>& when,
                                       std::ptrdiff_t w = 1) {
    return try_until(when, &stop, w);
  }

  /// As acquire, without blocking the thread: what it returns is to be awaited by a coroutine, or passed on. Defined,
  /// with the options, in kgate/async.hpp.
  template <class... Options>
  [[nodiscard]] auto async_acquire(Options... options);

  /// Hands w permits back. More than are out, or fewer than none, stops the program; none is nothing.
  void release(std::ptrdiff_t w = 1) {
    if (w != 1) [[unlikely]] {
      KGATE_EXPECTS(w >= 0 && w <= max(), "release of fewer than no permits, or of more than there can be");
      if (w == 0) return;
    }
    const word one_out = one_out_.load(std::memory_order_relaxed);  // before: afterwards this object may be gone
    if (!gate_.release(caller(), static_cast<word>(w), one_out)) [[unlikely]]
      check_excess();
  }

  /// Changes the number of permits. More: those queued are admitted at once. Fewer: those inside and those admitted
  /// already stay and finish, and no others are admitted until fewer than k are inside; a request for more than k
  /// is refused. Does not wait. Nothing if the semaphore is closed.
  /// @throws std::invalid_argument unless 1 <= k <= max()
  void resize(std::ptrdiff_t k) {
    check_permits(k);
    set_permits([this, k] { return closed() ? permits() : k; });
  }

  /// Refuses waiters and all later requests. Those inside stay, and hand back as usual. Final.
  void close() {
    set_permits([this] {
      closed_.store(true, std::memory_order_seq_cst);
      return 0;
    });
  }
  bool closed() const noexcept { return closed_.load(std::memory_order_seq_cst); }

  /// k; 0 if closed.
  std::ptrdiff_t permits() const noexcept {
    return static_cast<std::ptrdiff_t>(L::permits_of(one_out_.load(std::memory_order_seq_cst)));
  }
  /// The most permits one acquire can take: k.
  std::ptrdiff_t weight_max() const noexcept { return permits(); }

  /// What was true at some moment during the call.
  std::ptrdiff_t available() const noexcept {
    process p(caller(), gate_.key());
    return static_cast<std::ptrdiff_t>(L::free(gate_.read(p)) + bargeable(p));
  }
  /// Permits out, those of threads on their way in or not asleep yet included. May exceed permits() for a while after a
  /// resize to less.
  std::ptrdiff_t holders() const noexcept {
    process p(caller(), gate_.key());
    std::ptrdiff_t queued = 0, balance = 0;
    with_waiters([&](const auto& w) { queued += static_cast<std::ptrdiff_t>(w.last + 1 - w.first); },
                 [&] {
                   const word seen = gate_.read(p);
                   balance = static_cast<std::ptrdiff_t>(L::free(seen)) - static_cast<std::ptrdiff_t>(L::queued(seen)) +
                             static_cast<std::ptrdiff_t>(bargeable(p));
                 });
    return std::max<std::ptrdiff_t>(0, permits() - balance - queued);
  }
  /// Threads asleep in the queue, or about to sleep.
  std::ptrdiff_t waiters() const noexcept {
    process p(caller(), gate_.key());
    if (machine::bucket_of(p, gate_).announced(p) == 0) return 0;
    std::ptrdiff_t count = 0;
    with_waiters([&](const auto&) { ++count; }, [] {});
    return count;
  }
  /// What was counted, if Statistics counts.
  const Statistics& counts() const noexcept { return counts_; }

 protected:
  /// For tests: tickets start at `first_ticket`, which may be near the wrap.
  constexpr basic_semaphore(std::ptrdiff_t k, std::uint64_t first_ticket, int names = 0)
      : gate_((check_permits(k), memory_), 0, static_cast<int>(k), first_ticket, names),
        one_out_(L::one_out(static_cast<word>(k))) {}

 private:
  using outcome = detail::outcome;
  template <class>
  friend struct detail::suspension;
  template <class, class, class>
  friend class basic_slots;

  /// A permit and a name if a permit is free now; else -1.
  int try_acquire_named() noexcept {
    const int name = gate_.try_enter_named(caller());
    if (name >= 0) [[likely]]
      note_grant();
    return name;
  }
  /// A name for one that has a permit and none yet.
  int take_name() noexcept {
    process p(caller(), gate_.key());
    return gate_.take_name(p);
  }
  void release_named(int name) {
    using naming = typename algorithm::naming;
    const word one_out = one_out_.load(std::memory_order_relaxed);
    const naming how = gate_.release_named(caller(), name, one_out);
    if (how == naming::good) [[likely]]
      return;
    KGATE_EXPECTS(how != naming::not_taken, "release of a slot that nobody holds");
    check_excess();
  }

  static constexpr void check_permits(std::ptrdiff_t k) {
    if (k < 1 || k > max())
      detail::throw_or_stop<std::invalid_argument>(
          of_slots ? "kgate::slots: k must be at least 1 and at most the capacity, which is at most max()"
                   : "kgate::semaphore: k must be at least 1 and at most max()");
  }
  static void check_weight(std::ptrdiff_t w) noexcept {
    KGATE_EXPECTS(w >= 1 && w <= max(), "acquire of fewer than one permit, or of more than there can be");
  }
  typename machine::Caller caller(const detail::wait_limit* limit = nullptr) const noexcept {
    return {&counts_, limit};
  }
  void note_grant() noexcept {
    if constexpr (Statistics::counts) counts_.grants.fetch_add(1, std::memory_order_relaxed);
  }
  word bargeable([[maybe_unused]] process& p) const noexcept {
    if constexpr (Fairness::overtakings_max > 0) return gate_.bargeable(p);
    return 0;
  }

  /// Calls each(waiter) for those registered and then last(), all under the lock of their bucket.
  template <class Each, class Last>
  void with_waiters(Each&& each, Last&& last) const noexcept {
    process p(caller(), gate_.key());
    auto& bucket = machine::bucket_of(p, gate_);
    typename machine::Taken taken;
    protocol::lock(p, bucket);
    bucket.for_each(gate_.key(), each);
    last();
    protocol::open(p, bucket, gate_, taken);
  }
  /// Sets k to what `wanted` returns, one call at a time. Waiters whose wait this ends are woken at the very end: a
  /// coroutine that goes on here may call this again, and the last of them may destroy this object.
  template <class Wanted>
  void set_permits(Wanted&& wanted) {
    process p(caller(), gate_.key());
    typename machine::Taken taken;
    {
      const std::lock_guard only_one(resizing_);
      change_permits(p, wanted(), taken);
    }
    taken.wake_all(p);
  }
  void change_permits(process& p, std::ptrdiff_t k, typename machine::Taken& taken) {
    const std::ptrdiff_t now = permits();
    if (k > now) {
      one_out_.store(L::one_out(static_cast<word>(k)), std::memory_order_seq_cst);
      gate_.add_permits(p, static_cast<word>(k - now), taken);
    } else if (k < now) {
      gate_.remove_permits(p, static_cast<word>(now - k), taken);
      one_out_.store(L::one_out(static_cast<word>(k)), std::memory_order_seq_cst);
      with_waiters(
          [&](detail::native_waiter& w) {
            if (w.weight > static_cast<word>(k) && !w.suspended) w.notify(detail::waiter_word::interrupted);
          },
          [] {});
      const auto note = [k](detail::native_waiter& w) { w.how = k == 0 ? outcome::closed : outcome::too_heavy; };
      gate_.withdraw_heavier(p, static_cast<word>(k), note, taken);
    }
  }
  [[gnu::noinline]] void check_excess() {
    const std::lock_guard no_resize(resizing_);  // or k could have changed since
    process p(caller(), gate_.key());
    KGATE_EXPECTS(L::free(gate_.read(p)) <= L::permits_of(one_out_.load(std::memory_order_relaxed)),
                  "release of a permit that nobody holds");
  }

  /// Whether w permits are more than there are. A semaphore that was closed comes to have none.
  bool too_heavy(word w) const noexcept { return w > L::permits_of(one_out_.load(std::memory_order_seq_cst)); }
  /// Why a request for w permits cannot be granted, if so.
  outcome refusal(word w) const noexcept {
    return closed() ? outcome::closed : too_heavy(w) ? outcome::too_heavy : outcome::acquired;
  }
  /// How a request for w permits ends that is not to wait any longer. If not because it has expired, it was refused; k
  /// may have grown again since.
  outcome end_without_permits(word w, bool expired) const noexcept {
    const outcome why = refusal(w);
    return why != outcome::acquired ? why : expired ? outcome::expired : outcome::too_heavy;
  }
  [[gnu::noinline]] void throw_refusal(word w) { detail::throw_if_refused(end_without_permits(w, false)); }

  /// Whether a thread that waits for w permits is to give up: because it is refused, or also at a limit.
  struct unless_refused {  // for one permit: no more than a pointer, so that the short way needs no stack for it
    const basic_semaphore* from;
    bool operator()() const noexcept { return from->refusal(1) != outcome::acquired; }
  };
  struct within_limit {
    const basic_semaphore* from;
    word w;
    const detail::wait_limit* limit;
    bool operator()() const noexcept { return from->refusal(w) != outcome::acquired || limit->expired(); }
  };
  [[gnu::noinline]] outcome acquire_within(const detail::wait_limit& limit, std::ptrdiff_t weight) {
    check_weight(weight);
    const word w = static_cast<word>(weight);
    if (const outcome why = refusal(w); why != outcome::acquired) return why;
    if (limit.expired()) return outcome::expired;
    if (gate_.acquire(caller(&limit), w, within_limit{this, w, &limit})) {
      note_grant();
      return outcome::acquired;
    }
    return given_up(w, limit.expired());
  }
  outcome given_up(word w, bool expired) const noexcept {
    if constexpr (Statistics::counts) counts_.given_up.fetch_add(1, std::memory_order_relaxed);
    return end_without_permits(w, expired);
  }
  template <class Clock, class Duration>
  bool try_until(const std::chrono::time_point<Clock, Duration>& when, const stop_token* stop, std::ptrdiff_t w) {
    for (;;) {
      if (try_acquire(w)) return true;
      const std::chrono::nanoseconds left = detail::time_until(when);
      if (left.count() == 0) return false;  // not before: `when` may be on a clock that was set back meanwhile
      const outcome how = acquire_within({detail::deadline_after(left), stop}, w);
      if (how == outcome::acquired) return true;
      if (how != outcome::expired || (stop != nullptr && stop->stop_requested())) return false;
    }
  }

  [[no_unique_address]] typename machine::Memory memory_;
  mutable algorithm gate_;
  /// k, as the count that a release compares with (ticket_word.hpp). Never for fewer permits than W counts.
  std::atomic<word> one_out_;
  detail::small_mutex resizing_;
  std::atomic<bool> closed_{false};
  [[no_unique_address]] mutable Statistics counts_;
};

using semaphore = basic_semaphore<>;
static_assert(sizeof(semaphore) == detail::cache_line);

}  // namespace kgate
