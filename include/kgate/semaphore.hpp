// SPDX-License-Identifier: Apache-2.0
#pragma once

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
/// The interface is that of std::counting_semaphore, with these differences: permits are handed back by those who took them
/// (more would be a programmer's error, and is told), the number of permits is a run-time value that can be changed, and
/// waiting can also be ended by a std::stop_token. The algorithm is algorithms/kgate.hpp, the very text the laboratory checks.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <utility>

#include "kgate/algorithms/kgate.hpp"
#include "kgate/detail/cache_line.hpp"
#include "kgate/detail/contracts.hpp"
#include "kgate/wait_policy.hpp"
#include "kgate/detail/machines/native_sleeping.hpp"

namespace kgate {

/// Fairness: who comes first is admitted first.
struct fifo {
  static constexpr int overtakings_max = 0;
};

/// Fairness: at most b others pass one that stands in line, if b >= 16k; else at most b and one for each permit. b is from 2 to
/// 40000. Keeps permits in use while the first in line wakes up: much faster than fifo when threads outnumber processors and hold
/// permits for microseconds.
template <int b = 16000>
struct bounded_overtaking {
  static constexpr int overtakings_max = b;
};

/// A counting semaphore of k permits.
///
/// Thread safe, except construction, destruction and resize (see there). Not copyable, not movable. Any number of threads
/// may wait; `places` of them have a wake-up word of their own, those behind look at the line from time to time, and order
/// is kept all the same as long as nobody is cancelled or times out (a cancellable wait needs a place, and waits for one
/// unordered while there is none).
///
/// @tparam Fairness    fifo or bounded_overtaking<b>
/// @tparam WaitPolicy  adaptive, spin_park, spin_yield or spin
/// @tparam Statistics  no_statistics, which costs nothing, or statistics
template <class Fairness = fifo, class WaitPolicy = adaptive, class Statistics = no_statistics>
class basic_semaphore {
  using machine = native_sleeping<WaitPolicy, Statistics>;
  using algorithm = ticket_gate<machine, Fairness::overtakings_max>;
  using process = typename machine::Process;
  using L = typename algorithm::layout;
  using word = typename L::word;

 public:
  /// The largest k.
  static constexpr std::ptrdiff_t max() noexcept { return static_cast<std::ptrdiff_t>(L::permits_max); }

  /// k permits, all free.
  /// @param places  threads expected to wait at once; memory is one cache line for each
  /// @throws std::invalid_argument unless 1 <= k <= max() and 1 <= places <= 2^20
  explicit basic_semaphore(std::ptrdiff_t k, std::size_t places = 64) : basic_semaphore(k, places, 0) {}

  basic_semaphore(const basic_semaphore&) = delete;
  basic_semaphore& operator=(const basic_semaphore&) = delete;

  /// Nobody may be waiting: the program stops if somebody is. Permits still out are forgotten.
  ~basic_semaphore() {
    process p(counts_, experience_);
    KGATE_EXPECTS(!gate_.somebody_in_line(p), "semaphore destroyed while somebody waits for it");
  }

  /// Takes w permits, all at once, waiting for them in line. Nobody who comes later is admitted before, even if it asks for
  /// less (head-of-line rule): a large request delays those behind it, and cannot be starved by them.
  /// w > permits() or w > weight_max() stops the program.
  void acquire(std::ptrdiff_t w = 1) {
    if (w == 1) [[likely]] {
      process p(counts_, experience_);
      if constexpr (Statistics::counts)
        acquire_counted(p);
      else if (const word before = gate_.look_before(p); algorithm::somebody_asleep(before)) [[unlikely]]
        wait_past_sleepers();
      else if (const word old = gate_.draw_tickets(p, 1); !L::had_free(old, 1)) [[unlikely]]
        wait_with_ticket(before, old);
    } else {
      acquire_patiently(w);
    }
  }

  /// Takes w permits if they are free now. Does not overtake those in line.
  [[nodiscard]] bool try_acquire(std::ptrdiff_t w = 1) noexcept {
    check_weight(w);
    process p(counts_, experience_);
    const bool taken = gate_.try_enter(p, static_cast<word>(w));
    if (taken) note_grant();
    return taken;
  }

  /// As acquire, but gives up after `timeout`; a permit that comes at the last moment is taken. False if it gave up: then no
  /// permit was taken and the place in line is given up.
  template <class Rep, class Period>
  [[nodiscard]] bool try_acquire_for(const std::chrono::duration<Rep, Period>& timeout, std::ptrdiff_t w = 1) {
    return try_acquire(w) || acquire_within({deadline_after(timeout), nullptr}, w);
  }
  template <class Clock, class Duration>
  [[nodiscard]] bool try_acquire_until(const std::chrono::time_point<Clock, Duration>& when, std::ptrdiff_t w = 1) {
    for (;;) {
      if (try_acquire_for(when - Clock::now(), w)) return true;
      if (Clock::now() >= when) return false;  // not before: `when` may be on a clock that was set back meanwhile
    }
  }

  /// As acquire, but gives up when `stop` is requested. False if it gave up.
  [[nodiscard]] bool acquire(std::stop_token stop, std::ptrdiff_t w = 1) {
    return try_acquire(w) || acquire_within({patience::clock::time_point::max(), &stop}, w);
  }
  /// As acquire, but gives up when `stop` is requested or after `timeout`.
  template <class Rep, class Period>
  [[nodiscard]] bool try_acquire_for(std::stop_token stop, const std::chrono::duration<Rep, Period>& timeout,
                                     std::ptrdiff_t w = 1) {
    return try_acquire(w) || acquire_within({deadline_after(timeout), &stop}, w);
  }

  /// Hands w permits back. More than are out stops the program.
  void release(std::ptrdiff_t w = 1) {
    KGATE_EXPECTS(w >= 1 && w <= max(), "release of fewer than one permit, or of more than there can be");
    process p(counts_, experience_);
    if constexpr (Fairness::overtakings_max > 0) {
      if (w == 1 && algorithm::somebody_asleep(gate_.look_before(p)) && let_loose()) [[unlikely]]
        return;
    }
    const word old = gate_.put_back(p, static_cast<word>(w));
    const word k = permits_.load(std::memory_order_relaxed);
    // The usual case: these were all that were out, and nobody is in line.
    if (!L::had_out(old, k, static_cast<word>(w))) [[unlikely]] {
      if constexpr (Statistics::counts)
        settle(p, old, static_cast<word>(w));
      else
        settle(old, static_cast<word>(w));
    }
  }

  /// Changes the number of permits. More: those in line are admitted at once. Fewer: those inside stay and finish, and nobody
  /// new is admitted until fewer than k are inside. Does not wait. Calls of resize exclude each other; everything else may go
  /// on at the same time.
  /// @throws std::invalid_argument unless 1 <= k <= max()
  void resize(std::ptrdiff_t k) {
    check_permits(k);
    const std::lock_guard only_one(resizing_);
    process p(counts_, experience_);
    const std::ptrdiff_t now = permits();
    if (k > now) {
      permits_.store(static_cast<word>(k), std::memory_order_relaxed);
      gate_.hand_back(p, static_cast<word>(k - now));
    } else if (k < now) {
      gate_.withdraw(p, static_cast<word>(now - k));
      permits_.store(static_cast<word>(k), std::memory_order_relaxed);
    }
  }

  /// k.
  std::ptrdiff_t permits() const noexcept {
    return static_cast<std::ptrdiff_t>(permits_.load(std::memory_order_relaxed));
  }
  /// The most permits one acquire can take: k, or the number of places if that is less.
  std::ptrdiff_t weight_max() const noexcept { return std::min(permits(), places_); }

  /// What was true at some moment during the call.
  std::ptrdiff_t available() const noexcept {
    process p(counts_, experience_);
    return static_cast<std::ptrdiff_t>(L::free(gate_.look(p)) + gate_.loose(p));
  }
  /// Permits out. May exceed permits() for a while after resize to less.
  std::ptrdiff_t holders() const noexcept {
    process p(counts_, experience_);
    return std::max<std::ptrdiff_t>(0, permits() - available());
  }
  /// Threads asleep in line (or about to sleep).
  std::ptrdiff_t waiters() const noexcept {
    process p(counts_, experience_);
    const word seen = gate_.look(p);
    std::ptrdiff_t count = 0;
    for (word i = 0; i < L::in_line(seen); ++i) count += gate_.sleeps(p, L::wrapped(L::E(seen) + i)) ? 1 : 0;
    return count;
  }
  /// What was counted, if Statistics counts.
  const Statistics& counts() const noexcept { return counts_; }

 protected:
  /// For tests: tickets start at `first_ticket`, which may be near the wrap.
  basic_semaphore(std::ptrdiff_t k, std::size_t places, std::uint64_t first_ticket)
      : places_((check_permits(k), check_places(places))),
        permits_(static_cast<word>(k)),
        gate_(memory_, static_cast<int>(places_), static_cast<int>(k), first_ticket) {}

 private:
  static void check_permits(std::ptrdiff_t k) {
    if (k < 1 || k > max()) throw std::invalid_argument("kgate::semaphore: k must be at least 1 and at most max()");
  }
  static std::ptrdiff_t check_places(std::size_t places) {
    if (places < 1 || places > (std::size_t{1} << 20))
      throw std::invalid_argument("kgate::semaphore: places must be at least 1 and at most 2^20");
    return static_cast<std::ptrdiff_t>(places);
  }
  void check_weight(std::ptrdiff_t w) const noexcept {
    KGATE_EXPECTS(w >= 1 && w <= weight_max(), "acquire of fewer than one permit, or of more than weight_max()");
  }
  void note_grant() noexcept {
    if constexpr (Statistics::counts) counts_.grants.fetch_add(1, std::memory_order_relaxed);
  }
  template <class Rep, class Period>
  static patience::clock::time_point deadline_after(const std::chrono::duration<Rep, Period>& timeout) {
    const auto now = patience::clock::now();
    const auto longest = std::chrono::duration<double>(patience::clock::time_point::max() - now);
    if (std::chrono::duration<double>(timeout) >= longest) return patience::clock::time_point::max();
    return now + std::chrono::ceil<patience::clock::duration>(timeout);
  }

  /// Instead of a release. False: there is nobody to be passed.
  [[gnu::noinline]] bool let_loose() {
    process p(counts_, experience_);
    return gate_.let_loose(p);
  }
  /// After a release that found somebody in line, or others inside, or more free permits than there seemed to be.
  [[gnu::noinline]] void settle(word old, word w) {
    process p(counts_, experience_);
    settle(p, old, w);
  }
  void settle(process& p, word old, word w) {
    if (L::in_line(old) > 0) {
      gate_.admit(p, old, w);
      return;
    }
    if (L::C(old) + permits_.load(std::memory_order_relaxed) > L::bias + w) [[likely]] {
      gate_.keep_away(p, old);
      return;
    }
    const std::lock_guard no_resize(resizing_);  // or k could have changed since
    KGATE_EXPECTS(L::free(gate_.look(p)) <= permits_.load(std::memory_order_relaxed),
                  "release of a permit that nobody holds");
  }
  [[gnu::noinline]] void wait_with_ticket(word before, word old) {
    process p(counts_, experience_);
    typename algorithm::Private mine;
    if (!gate_.enter_drawn(p, mine, before, old, 1)) gate_.wait(p, mine);
  }
  [[gnu::noinline]] void wait_past_sleepers() {
    process p(counts_, experience_);
    typename algorithm::Private mine;
    if (!gate_.enter_past_sleepers(p, mine, 1)) gate_.wait(p, mine);
  }
  void acquire_counted([[maybe_unused]] process& p) {
    if constexpr (Statistics::counts) {
      typename algorithm::Private mine;
      if (!gate_.enter(p, mine, 1)) {
        const word arrived = p.overtakings_before();
        gate_.wait(p, mine);
        counts_.note_wait_of(mine.t(), L::ahead(mine.old, mine.t()), arrived);
      }
      note_grant();
    }
  }
  [[gnu::noinline]] void acquire_patiently(std::ptrdiff_t w) { acquire_within({}, w); }
  [[gnu::noinline]] bool acquire_within(const patience& until, std::ptrdiff_t w) {
    check_weight(w);
    process p(counts_, experience_, &until);
    typename algorithm::Private mine;
    const auto impatient = [&until] { return until.lost(); };
    bool inside = false;
    for (;;) {
      const auto drawn = gate_.enter_if_place(p, mine, static_cast<word>(w));
      if (drawn == algorithm::draw::no_place) {
        if (until.lost()) break;
        p.nap();
        continue;
      }
      if (drawn == algorithm::draw::inside) {
        inside = true;
      } else if (until.stop != nullptr) {
        const auto wake_up = [this, t = mine.t()] {
          process caller(counts_, experience_);
          gate_.interrupt(caller, t);
        };
        const std::stop_callback on_stop(*until.stop, wake_up);
        inside = gate_.wait(p, mine, impatient);
      } else {
        inside = gate_.wait(p, mine, impatient);
      }
      break;
    }
    if (inside) note_grant();
    if constexpr (Statistics::counts) {
      if (!inside) counts_.given_up.fetch_add(1, std::memory_order_relaxed);
    }
    return inside;
  }

  [[no_unique_address]] typename machine::Memory memory_;
  std::ptrdiff_t places_;
  /// k; never lower than the permits that W counts.
  std::atomic<word> permits_;
  std::mutex resizing_;
  mutable algorithm gate_;
  alignas(cache_line) mutable typename machine::Experience experience_;
  [[no_unique_address]] mutable Statistics counts_;
};

using semaphore = basic_semaphore<>;

/// w permits of a semaphore for as long as this object lives.
template <class Semaphore = semaphore>
class basic_permit {
 public:
  basic_permit() noexcept = default;
  /// Waits for the permits.
  explicit basic_permit(Semaphore& from, std::ptrdiff_t w = 1) : from_(&from), w_(w) { from.acquire(w); }
  /// Takes over permits that the caller has acquired.
  basic_permit(Semaphore& from, std::adopt_lock_t, std::ptrdiff_t w = 1) noexcept : from_(&from), w_(w) {}
  /// Takes the permits if they are free; else is empty.
  basic_permit(Semaphore& from, std::try_to_lock_t, std::ptrdiff_t w = 1)
      : from_(from.try_acquire(w) ? &from : nullptr), w_(w) {}
  /// Waits no longer than `timeout`; then is empty.
  template <class Rep, class Period>
  basic_permit(Semaphore& from, const std::chrono::duration<Rep, Period>& timeout, std::ptrdiff_t w = 1)
      : from_(from.try_acquire_for(timeout, w) ? &from : nullptr), w_(w) {}
  /// Waits until stop is requested; then is empty.
  basic_permit(Semaphore& from, std::stop_token stop, std::ptrdiff_t w = 1)
      : from_(from.acquire(std::move(stop), w) ? &from : nullptr), w_(w) {}

  basic_permit(basic_permit&& other) noexcept : from_(std::exchange(other.from_, nullptr)), w_(other.w_) {}
  basic_permit& operator=(basic_permit&& other) noexcept {
    if (this != &other) {
      reset();
      from_ = std::exchange(other.from_, nullptr);
      w_ = other.w_;
    }
    return *this;
  }
  ~basic_permit() { reset(); }

  explicit operator bool() const noexcept { return from_ != nullptr; }
  /// Hands the permits back now.
  void reset() noexcept {
    if (from_ != nullptr) std::exchange(from_, nullptr)->release(w_);
  }

 private:
  Semaphore* from_ = nullptr;
  std::ptrdiff_t w_ = 0;
};

template <class Semaphore, class... Rest>
basic_permit(Semaphore&, Rest...) -> basic_permit<Semaphore>;

using permit = basic_permit<>;

}  // namespace kgate
