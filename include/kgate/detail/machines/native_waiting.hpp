// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The native machine of kgate::semaphore: a variable is a bare std::atomic, and waiting is done in the waiting
/// room of this process (detail/waiting). What threads have found out about waiting is kept there too, so that a
/// semaphore is small.

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <memory>
#include <new>
#include <thread>

#include "kgate/detail/stop_token.hpp"
#include "kgate/detail/waiting/futex.hpp"
#include "kgate/detail/waiting/native_room.hpp"
#include "kgate/detail/waiting/wait_limit.hpp"
#include "kgate/detail/waiting/waiting.hpp"
#include "kgate/statistics.hpp"
#include "kgate/wait_policy.hpp"

namespace kgate::detail {

/// How many processors this program may use; asked once.
inline std::size_t processors() noexcept {
  static const std::size_t count = std::max(1U, std::thread::hardware_concurrency());
  return count;
}

/// @tparam Policy  how to wait; one with a function step(label) is called before every step: tests put delays in
template <class Policy = adaptive, class Statistics = no_statistics>
struct native_waiting {
  struct Memory {};
  template <class T>
  using Var = detail::native_var<T>;
  using Bucket = detail::native_bucket;
  using Taken = detail::taken_waiters;

  static constexpr bool adapts = requires { Policy::adapts; };

  /// A thread that calls, as far as the short parts need to know it.
  struct Caller {
    Statistics* counts;
    const detail::wait_limit* limit = nullptr;
    Caller& operator[]([[maybe_unused]] const char* label) noexcept {
      if constexpr (requires { Policy::step(label); }) Policy::step(label);
      return *this;
    }
    void doorway_end() noexcept {}
  };

  /// A thread in one call. `key` is the queue it uses.
  class Process {
   public:
    Process(const Caller& caller, const void* key) noexcept : counts_(caller.counts), key_(key), limit_(caller.limit) {}

    process_id id() const noexcept { return pid(0); }
    Process& operator[]([[maybe_unused]] const char* label) noexcept {
      if constexpr (requires { Policy::step(label); }) Policy::step(label);
      return *this;
    }
    void doorway_end() noexcept {}
    nothing_private frame() noexcept { return {}; }
    Process apart() const noexcept { return *this; }
    template <class... T>
    void live(const T&...) noexcept {}
    /// Lets others run; for longer if that was asked for often.
    void pause() noexcept {
      if (++pauses_ <= yields_max) {
        sched_yield();
      } else {
        std::atomic<std::uint32_t> nobody_wakes{0};
        const std::timespec length{0, 200'000};
        futex_wait(nobody_wakes, 0, &length);
      }
    }
    /// After permits went back while others are inside: every step of theirs takes W away from us and every step of
    /// ours from them. As long as many of them pass in the time of a few pauses, all get on faster if we keep away for
    /// so long. Whether many did is known at our next release; nothing of the semaphore is touched here.
    void backoff_after_release(std::uint64_t epoch) noexcept {
      struct last_release {
        const void* key = nullptr;
        std::uint64_t epoch = 0;
        bool backed_off = false;
      };
      static thread_local last_release last;
      detail::adaptive_switch& backoff = learned().backoff;
      if (last.backed_off && last.key == key_)
        backoff.learn(last.epoch, static_cast<std::uint32_t>(epoch - last.epoch) > backoff_passages_min);
      last = {key_, epoch, backoff.should_try(epoch)};
      if (last.backed_off)
        for (int i = 0; i < backoff_pauses; ++i) cpu_relax();
    }
    /// It was queued with this ticket, `ahead` behind the first, and is admitted.
    void waited(std::uint64_t ticket, std::uint64_t ahead) noexcept requires(Statistics::counts) {
      counts_->note_wait_of(ticket, ahead, overtakings_before_);
    }

   private:
    friend struct native_waiting;
    detail::adaptive_state& learned() const noexcept { return detail::this_room().bucket_of(key_).learned; }

    static constexpr unsigned yields_max = 64;
    /// A fifth of a microsecond or less, in which a lone thread passes ten times and more.
    static constexpr int backoff_pauses = 6;
    static constexpr std::uint32_t backoff_passages_min = 4;

    Statistics* counts_;
    const void* key_;
    const detail::wait_limit* limit_;
    std::uint64_t overtakings_before_ = 0;
    unsigned pauses_ = 0;
  };

  /// Its address says which algorithm serves a queue.
  template <class Algorithm>
  static constexpr char tag_of = 0;
  /// What serves the queue of a semaphore whose first waiter is a W.
  template <class W, class Algorithm>
  static void serve_queue_of(detail::native_waiter& head, Bucket& b, Taken& taken) {
    Process server({static_cast<W&>(head).counts()}, head.key);
    const_cast<Algorithm*>(static_cast<const Algorithm*>(head.key))->serve(server, b, taken);
  }

  /// A queued thread, woken also when a stop is requested.
  class Waiter : public detail::native_waiter {
   public:
    template <class Algorithm>
    Waiter(Process& p, Algorithm& of) : counts_(p.counts_) {
      static constexpr kind thread{&serve_queue_of<Waiter, Algorithm>, nullptr, nullptr, &tag_of<Algorithm>};
      key = of.key();
      is = &thread;
      if (p.limit_ != nullptr && p.limit_->stop != nullptr) {
        ::new (static_cast<void*>(on_stop_)) callback(*p.limit_->stop, interrupt{this});
        has_callback_ = true;
      }
    }
    Waiter(const Waiter&) = delete;
    Waiter& operator=(const Waiter&) = delete;
    ~Waiter() {
      if (has_callback_) std::destroy_at(std::launder(reinterpret_cast<callback*>(on_stop_)));
    }
    std::uint32_t read(Process&) const noexcept { return word.load(std::memory_order_seq_cst); }
    std::uint32_t clear(Process&, std::uint32_t bits) noexcept {
      return word.fetch_and(~bits, std::memory_order_seq_cst) & ~bits;
    }
    Statistics* counts() const noexcept { return counts_; }

   private:
    struct interrupt {
      detail::native_waiter* whom;
      void operator()() const noexcept { whom->notify(detail::waiter_word::interrupted); }
    };
    using callback = stop_callback<interrupt>;
    Statistics* counts_;
    bool has_callback_ = false;
    alignas(callback) std::byte on_stop_[sizeof(callback)];  // not an optional: GCC 12 warns of it under sanitizers
  };

  template <class Algorithm>
  static Bucket& bucket_of(Process&, Algorithm& of) noexcept {
    return detail::this_room().bucket_of(of.key());
  }
  /// By the address alone: `of` may be gone, and another semaphore of another type be there.
  template <class Algorithm>
  static void serve(Process& p, Bucket& b, Algorithm& of, Taken& taken, typename Algorithm::word most) {
    if (b.first_queue_is(of.key(), &tag_of<Algorithm>)) [[likely]]
      return of.serve(p, b, taken, most);
    Taken all = taken;  // a copy, as in bucket_protocol
    if (detail::native_waiter* const first = b.first_of(of.key())) first->is->serve(*first, b, all);
    taken = all;
  }
  template <class Algorithm>
  static void serve_all(Process&, Bucket& b, Algorithm&, Taken& taken) {
    b.serve_all(taken);
  }
  static void before_lock(Process&, Bucket& b) noexcept { spin_for_lock(b); }
  [[gnu::noinline]] static void spin_for_lock(Bucket& b) noexcept {
    for (int i = 0; i < lock_spins && (b.lock.atomic().load() & detail::bucket_protocol<native_waiting>::locked) != 0;
         ++i)
      cpu_relax();
  }
  static void sleep_for_lock(Process&, Var<std::uint32_t>& lock, std::uint32_t while_it_is) noexcept {
    futex_wait(lock.atomic(), while_it_is);
  }
  static void wake(Process&, Var<std::uint32_t>& lock) noexcept { futex_wake(lock.atomic(), 1); }

  /// Sleeps while the waiter's word is as it was seen, and not beyond the limit.
  static void sleep(Process& p, Waiter& me, std::uint32_t while_it_is) noexcept {
    note(p, event::wait, 0);
    if constexpr (!Policy::parks) {
      if constexpr (Policy::yields)
        sched_yield();
      else
        for (int i = 0; i < 16 && me.word.load(std::memory_order_relaxed) == while_it_is; ++i) cpu_relax();
    } else if (p.limit_ != nullptr && p.limit_->has_deadline()) {
      using namespace std::chrono;
      const nanoseconds left = clamp<nanoseconds>(p.limit_->deadline - steady_clock::now(), 1ns, hours(24));
      const std::timespec length{static_cast<std::time_t>(left.count() / 1'000'000'000),
                                 static_cast<long>(left.count() % 1'000'000'000)};
      futex_wait(me.word, while_it_is, &length);
    } else {
      futex_wait(me.word, while_it_is);
    }
  }

  static bool may_be_passed(Process& p, std::uint64_t ticket) noexcept {
    return p.learned().barging.should_try(ticket, detail::adaptive_switch::start::doubtful);
  }
  static void note([[maybe_unused]] Process& p, [[maybe_unused]] event e,
                   [[maybe_unused]] std::uint64_t number) noexcept {
    if (e == event::waking_to_barge) p.learned().bargeable_when_woken.store(number, std::memory_order_relaxed);
    if (e == event::woken_to_barge)
      p.learned().barging.learn(number, number != p.learned().bargeable_when_woken.load(std::memory_order_relaxed),
                                detail::adaptive_switch::start::doubtful);
    if constexpr (Statistics::counts) {
      if (e == event::wait) p.counts_->waits.fetch_add(1, std::memory_order_relaxed);
      if (e == event::overtaking) p.counts_->overtakings.fetch_add(1, std::memory_order_relaxed);
      if (e == event::arrival) p.overtakings_before_ = p.counts_->overtakings.load(std::memory_order_relaxed);
    }
  }
  /// Notes for the ticket that will be admitted, unless others leave first, what had happened before: afterwards the
  /// semaphore may be gone.
  template <class T, class Admitted>
  static void before_release(Caller& p, Var<T>& v, Admitted&& admitted) noexcept requires(Statistics::counts) {
    p.counts->note_admission(admitted(v.read(p)), p.counts->overtakings.load(std::memory_order_relaxed));
  }
  template <class T, class Admitted>
  static void before_release(Process& p, Var<T>& v, Admitted&& admitted) noexcept requires(Statistics::counts) {
    Caller caller{p.counts_};
    before_release(caller, v, admitted);
  }

  template <class At, class Predicate>
  static std::size_t await_any(Process& p, std::size_t count, At&& at, Predicate&& until) noexcept {
    backoff<spin_yield> pause;
    for (;; pause())
      for (std::size_t i = 0; i < count; ++i)
        if (until(i, at(i).read(p))) return i;
  }

  class Spinner {
   public:
    explicit Spinner(Process& p) noexcept
        : learned_(p.learned()), budget_(adapts ? learned_.spins(Policy::spins) : Policy::spins) {}
    Spinner(const Spinner&) = delete;
    Spinner& operator=(const Spinner&) = delete;
    bool again(int pauses = 1) noexcept {
      if (used_ >= budget_) {
        learn(false);
        return false;
      }
      used_ += pauses;
      for (int i = 0; i < pauses; ++i) cpu_relax();
      return true;
    }
    bool won() noexcept {
      learn(true);
      return true;
    }

   private:
    void learn(bool won) noexcept {
      if constexpr (adapts) {
        if (used_ > 0) learned_.learn_spins(won, used_, Policy::spins);
      }
    }
    detail::adaptive_state& learned_;
    int budget_;
    int used_ = 0;
  };

  /// Spins while it is worth it: only the next waiter, and under an adaptive policy only while all that wait
  /// could be running.
  template <class T, class Done, class Stands>
  static T watch(Process& p, Var<T>& v, Done&& done, Stands&& stands) noexcept {
    T seen = v.read(p);
    if (done(seen)) return seen;
    const std::size_t crowd = processors();
    Spinner spin(p);
    for (;;) {
      const standing s = stands(seen);
      if (s.ahead > 0 || (adapts && s.queued >= crowd) || !spin.again()) break;
      seen = v.read(p);
      if (done(seen)) {
        spin.won();
        break;
      }
    }
    return seen;
  }

  /// Leaves the processor to others while that lets the queue move: when threads outnumber processors a little, those
  /// that are admitted run next by themselves, and none need sleep or be woken. It comes to nothing if nothing moves,
  /// or if the processor was needed for something else.
  template <class T, class Done, class Stands>
  static bool yield_in_queue(Process& p, Var<T>& v, Done&& done, Stands&& stands) noexcept {
    if constexpr (adapts) {
      using clock = std::chrono::steady_clock;
      constexpr auto doubtful = detail::adaptive_switch::start::doubtful;
      T seen = v.read(p);
      const std::uint64_t epoch = stands(seen).ticket / yield_together + 1;  // not 0, which suits every switch
      detail::adaptive_switch& yielding = p.learned().yielding;
      if (stands(seen).queued > long_queue * processors() || !yielding.should_try(epoch, doubtful)) return false;
      auto before = clock::now();
      for (int i = 0, still = 0; i < yields_in_queue_max && still < yields_still_max; ++i) {
        if (done(seen)) {
          yielding.learn(epoch, true, doubtful);
          return true;
        }
        if (stands(seen).queued > long_queue * processors()) return false;
        sched_yield();
        const T now = v.read(p);
        still = now == seen ? still + 1 : 0;
        seen = now;
        const auto after = clock::now();
        if (after - before > yield_longest) break;
        before = after;
      }
      yielding.learn(epoch, done(seen), doubtful);
      return done(seen);
    } else {
      return false;
    }
  }

 private:
  /// A queue is long if more wait than so many for each processor: then none yields.
  static constexpr std::size_t long_queue = 8;
  static constexpr std::uint64_t yield_together = 64;  ///< so many tickets try it together
  static constexpr int yields_in_queue_max = 64, yields_still_max = 2;
  static constexpr std::chrono::microseconds yield_longest{200};
  static constexpr int lock_spins = 100;
};

}  // namespace kgate::detail
