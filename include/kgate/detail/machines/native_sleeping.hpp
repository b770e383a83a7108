// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The native machine of kgate::semaphore: a variable is a bare std::atomic on a cache line of its own, and a process sleeps
/// on the variable itself (a futex), so that an access costs what the instruction costs. Whoever changes a variable that
/// somebody may sleep on says wake().
///
/// A process may carry a patience (a deadline, a stop_token): it does not sleep past the deadline.

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <stop_token>
#include <thread>

#include "kgate/detail/cache_line.hpp"
#include "kgate/detail/waiting/futex.hpp"
#include "kgate/detail/waiting/habit.hpp"
#include "kgate/wait_policy.hpp"
#include "kgate/detail/waiting/waiting.hpp"

namespace kgate {

/// When a process gives up waiting.
struct patience {
  using clock = std::chrono::steady_clock;
  clock::time_point deadline = clock::time_point::max();
  const std::stop_token* stop = nullptr;

  bool lost() const noexcept {
    return (stop != nullptr && stop->stop_requested()) ||
           (deadline != clock::time_point::max() && clock::now() >= deadline);
  }
};

/// Counts of what happened, if anybody wants to know.
struct no_statistics {
  static constexpr bool counts = false;
};

struct statistics {
  static constexpr bool counts = true;
  std::atomic<std::uint64_t> grants{0}, waits{0}, overtakings{0}, given_up{0};
  /// The most others that were admitted between the moment a thread stood in line and its own admission: those who came before
  /// it, and those who overtook it; and the latter alone. Counted are those that certainly fall into that time: from a look
  /// after the ticket was drawn to a look of the leaver before it admitted. Only those inside that have not told yet, at
  /// most k, can be taken for later ones.
  std::atomic<std::uint64_t> most_admitted_meanwhile{0}, most_overtaken{0};

  /// Called by the leaver that admitted this ticket, before it wakes the thread.
  void note_admission(std::uint64_t ticket, std::uint64_t overtakings_before) noexcept {
    admission& a = admissions_[ticket % admissions_max];
    a.overtakings.store(overtakings_before, std::memory_order_relaxed);
    a.ticket.store(ticket, std::memory_order_release);  // read by note_wait_of
  }
  /// Called by the thread with this ticket, which had `ahead` before it and stood in line after `overtakings_before`. One that saw
  /// by itself that it was admitted, before the leaver told, is not counted.
  void note_wait_of(std::uint64_t ticket, std::uint64_t ahead, std::uint64_t overtakings_before) noexcept {
    const admission& a = admissions_[ticket % admissions_max];
    if (a.ticket.load(std::memory_order_acquire) != ticket) return;
    const std::uint64_t until = a.overtakings.load(std::memory_order_relaxed);
    const std::uint64_t overtaken = until - std::min(until, overtakings_before);
    raise(most_overtaken, overtaken);
    raise(most_admitted_meanwhile, ahead + overtaken);
  }

 private:
  static void raise(std::atomic<std::uint64_t>& most, std::uint64_t to) noexcept {
    std::uint64_t now = most.load(std::memory_order_relaxed);
    while (now < to && !most.compare_exchange_weak(now, to, std::memory_order_relaxed)) {
    }
  }

  static constexpr std::size_t admissions_max = 1024;
  struct admission {
    std::atomic<std::uint64_t> ticket{~std::uint64_t{0}}, overtakings{0};
  };
  std::array<admission, admissions_max> admissions_;
};

/// How many processors this program may use; asked once.
inline std::size_t processors() noexcept {
  static const std::size_t count = std::max(1U, std::thread::hardware_concurrency());
  return count;
}

template <class Policy = adaptive, class Statistics = no_statistics>
struct native_sleeping {
  struct Memory {};

  /// How long spinning was worth it lately, for all who wait at one place. Under an adaptive policy spins that came to nothing
  /// make the next ones shorter; but now and then, less and less often, a long one is tried, or two threads that could meet
  /// would both go on sleeping.
  class Experience {
   public:
    int budget() noexcept {
      if constexpr (adapts) {
        const int now = spins_.load(std::memory_order_relaxed);
        if (now >= Policy::spins ||
            waits_.fetch_add(1, std::memory_order_relaxed) % trials_.load(std::memory_order_relaxed) != 0)
          return now;
      }
      return Policy::spins;
    }
    /// `used` pauses were spent, with this end.
    void learn([[maybe_unused]] bool won, [[maybe_unused]] int used) noexcept {
      if constexpr (adapts) {
        const int now = spins_.load(std::memory_order_relaxed);
        const int next = won ? Policy::spins : std::max(now / 2, Policy::spins / 16);
        if (next != now) spins_.store(next, std::memory_order_relaxed);
        const bool trial_failed = !won && now < Policy::spins && used >= Policy::spins;
        const unsigned trials = trials_.load(std::memory_order_relaxed);
        const unsigned wanted = won ? trials_min : trial_failed ? std::min(2 * trials, trials_max) : trials;
        if (wanted != trials) trials_.store(wanted, std::memory_order_relaxed);
      }
    }

    habit keeping_away;
    habit lingering{habit::start::doubtful};
    /// Whether others make use of permits while a sleeper wakes up; and how many had been let loose when the last one was woken.
    habit letting_pass{habit::start::doubtful};
    std::atomic<std::uint64_t> loose_when_woken{0};

   private:
    static constexpr bool adapts = requires { Policy::adapts; };
    static constexpr unsigned trials_min = 16, trials_max = 1024;
    std::atomic<int> spins_{adapts ? Policy::spins / 16 : Policy::spins};
    std::atomic<unsigned> waits_{0};
    std::atomic<unsigned> trials_{trials_min};  ///< one wait in so many is a trial
  };

  class Process {
   public:
    Process(Statistics& counts, Experience& experience, const patience* patient = nullptr) noexcept
        : counts_(counts), experience_(experience), patient_(patient) {}

    process_id id() const noexcept { return pid(0); }
    Process& operator[](const char* /*label*/) noexcept { return *this; }
    void doorway_end() noexcept {}
    nothing_private frame() noexcept { return {}; }
    template <class... T>
    void live(const T&...) noexcept {}
    void pause() noexcept { cpu_relax(); }
    /// Keeps away from a variable that others use too, if that has paid lately. True if it did: then kept_away() must tell how
    /// many of them passed meanwhile.
    bool keep_away(std::uint64_t occasion) noexcept {
      if (!experience_.keeping_away.worth_it(occasion)) return false;
      for (int i = 0; i < away_pauses; ++i) cpu_relax();
      return true;
    }
    void kept_away(std::uint64_t occasion, std::uint64_t passed) noexcept {
      experience_.keeping_away.learn(occasion, passed >= away_passed_min);
    }
    /// How many overtakings there had been when this process came to stand in line, or before it left.
    std::uint64_t overtakings_before() const noexcept { return overtakings_before_; }
    void nap() noexcept {
      const std::timespec length{0, 200'000};
      if constexpr (Policy::parks)
        ::nanosleep(&length, nullptr);
      else
        sched_yield();
    }

   private:
    friend struct native_sleeping;

    /// How long to sleep before looking around: doubles up to 160 ms, and never past the deadline.
    std::timespec next_look() noexcept {
      using namespace std::chrono;
      nanoseconds length = look_;
      look_ = std::min<nanoseconds>(2 * look_, milliseconds(160));
      if (has_deadline())
        length = std::clamp<nanoseconds>(patient_->deadline - patience::clock::now(), nanoseconds(1), length);
      return {length.count() / 1'000'000'000, length.count() % 1'000'000'000};
    }
    bool has_deadline() const noexcept {
      return patient_ != nullptr && patient_->deadline != patience::clock::time_point::max();
    }

    /// A fifth of a microsecond or less, in which a lone thread passes ten times and more.
    static constexpr int away_pauses = 6;
    static constexpr std::uint64_t away_passed_min = 4;

    Statistics& counts_;
    Experience& experience_;
    const patience* patient_;
    std::uint64_t overtakings_before_ = 0;
    bool looks_ = true;  ///< whether it looks around from time to time while it sleeps
    std::chrono::nanoseconds look_ = std::chrono::milliseconds(20);
  };

  static bool may_be_passed(Process& p, std::uint64_t ticket) noexcept {
    return p.experience_.letting_pass.worth_it(ticket);
  }
  static void note([[maybe_unused]] Process& p, [[maybe_unused]] event e,
                   [[maybe_unused]] std::uint64_t number) noexcept {
    if (e == event::nudging) p.experience_.loose_when_woken.store(number, std::memory_order_relaxed);
    if (e == event::nudged)
      p.experience_.letting_pass.learn(number,
                                       number != p.experience_.loose_when_woken.load(std::memory_order_relaxed));
    if constexpr (Statistics::counts) {
      if (e == event::wait) p.counts_.waits.fetch_add(1, std::memory_order_relaxed);
      if (e == event::overtaking) p.counts_.overtakings.fetch_add(1, std::memory_order_relaxed);
      if (e == event::arrival || e == event::leaving)
        p.overtakings_before_ = p.counts_.overtakings.load(std::memory_order_relaxed);
      if (e == event::admission) p.counts_.note_admission(number, p.overtakings_before_);
    }
  }

  template <class T>
  class alignas(cache_line) Var {
   public:
    Var(Memory&, variable, T initial) noexcept : value_(initial) {}
    Var(const Var&) = delete;
    Var& operator=(const Var&) = delete;

    T read(Process&) const noexcept { return value_.load(std::memory_order_seq_cst); }
    void write(Process&, T value) noexcept { value_.store(value, std::memory_order_seq_cst); }
    T fetch_add(Process&, T delta) noexcept { return value_.fetch_add(delta, std::memory_order_seq_cst); }
    bool test_and_set(Process&) noexcept { return value_.exchange(true, std::memory_order_seq_cst); }
    T exchange(Process&, T value) noexcept { return value_.exchange(value, std::memory_order_seq_cst); }
    bool compare_and_swap(Process&, T expected, T desired) noexcept {
      return value_.compare_exchange_strong(expected, desired, std::memory_order_seq_cst);
    }
    template <class F>
    T rmw(Process&, F&& f) noexcept {
      T old = value_.load(std::memory_order_seq_cst);
      for (;;) {
        const T next = f(T{old});
        if (next == old || value_.compare_exchange_weak(old, next, std::memory_order_seq_cst)) return old;
      }
    }
    template <class Predicate>
    void await(Process& p, Predicate&& until) noexcept {
      await_value(p, until);
    }
    template <class Predicate>
    T await_value(Process&, Predicate&& until) noexcept {
      backoff<spin_yield> pause;
      for (;;) {
        const T seen = value_.load(std::memory_order_seq_cst);
        if (until(T{seen})) return seen;
        pause();
      }
    }

   private:
    friend struct native_sleeping;
    std::atomic<T> value_;
  };

  template <class At, class Predicate>
  static std::size_t await_any(Process& p, std::size_t count, At&& at, Predicate&& until) noexcept {
    backoff<spin_yield> pause;
    for (;; pause())
      for (std::size_t i = 0; i < count; ++i)
        if (until(i, at(i).read(p))) return i;
  }

  /// A line is long if more wait than so many for each processor. In a long one nobody lingers, and only every sixteenth sleeper
  /// looks around by itself (decision 15): a time-out is a good part of what sleeping costs, and a thread does not die without its
  /// program, so that a leaver may be late with its wake-up but does come.
  static constexpr std::size_t long_line = 8;
  static constexpr std::uint64_t looks_each = 16;

  class Spinner {
   public:
    explicit Spinner(Process& p) noexcept : experience_(p.experience_), budget_(experience_.budget()) {}
    Spinner(const Spinner&) = delete;
    Spinner& operator=(const Spinner&) = delete;
    bool again(int pauses = 1) noexcept {
      if (used_ >= budget_) {
        if (used_ > 0) experience_.learn(false, used_);
        return false;
      }
      used_ += pauses;
      for (int i = 0; i < pauses; ++i) cpu_relax();
      return true;
    }
    bool won() noexcept {
      if (used_ > 0) experience_.learn(true, used_);
      return true;
    }

   private:
    Experience& experience_;
    int budget_;
    int used_ = 0;
  };

  /// Spins while it is worth it: only the next in line, and under an adaptive policy only while everybody who waits could be
  /// running.
  template <class T, class Done, class Stands>
  static T watch(Process& p, Var<T>& v, Done&& done, Stands&& stands) noexcept {
    T seen = v.value_.load(std::memory_order_seq_cst);
    if (done(seen)) return seen;
    const std::size_t crowd = processors();
    Spinner spin(p);
    for (;;) {
      const standing s = stands(seen);
      p.looks_ = s.in_line <= long_line * crowd || s.ticket % looks_each == 0;
      if (s.ahead > 0) break;
      if constexpr (requires { Policy::adapts; })
        if (s.in_line >= crowd) break;
      if (!spin.again()) break;
      seen = v.value_.load(std::memory_order_seq_cst);
      if (done(seen)) {
        spin.won();
        break;
      }
    }
    return seen;
  }

  /// Leaves the processor to others while that lets the line move: when threads outnumber processors a little, those who are
  /// admitted run next by themselves, and nobody need sleep or be woken. It comes to nothing if nothing moves, or if the
  /// processor was needed for something else.
  template <class T, class Done, class Stands>
  static bool linger(Process& p, Var<T>& v, Done&& done, Stands&& stands) noexcept {
    if constexpr (requires { Policy::adapts; }) {
      using clock = std::chrono::steady_clock;
      T seen = v.value_.load(std::memory_order_seq_cst);
      const std::uint64_t occasion = stands(seen).ticket / linger_together + 1;  // not 0, which suits every habit
      habit& lingering = p.experience_.lingering;
      if (stands(seen).in_line > long_line * processors() || !lingering.worth_it(occasion)) return false;
      auto before = clock::now();
      for (int i = 0, still = 0; i < linger_max && still < linger_still_max; ++i) {
        if (done(seen)) {
          lingering.learn(occasion, true);
          return true;
        }
        if (stands(seen).in_line > long_line * processors()) return false;
        sched_yield();
        const T now = v.value_.load(std::memory_order_seq_cst);
        still = now == seen ? still + 1 : 0;
        seen = now;
        const auto after = clock::now();
        if (after - before > linger_longest) break;
        before = after;
      }
      lingering.learn(occasion, done(seen));
      return done(seen);
    } else {
      return false;
    }
  }
  static constexpr std::uint64_t linger_together = 64;  ///< so many tickets try it together
  static constexpr int linger_max = 64, linger_still_max = 2;
  static constexpr std::chrono::microseconds linger_longest{200};

  static void sleep(Process& p, Var<std::uint32_t>& v, std::uint32_t while_it_is) noexcept {
    if constexpr (Policy::parks) {
      note(p, event::wait, 0);
      if (p.looks_ || p.has_deadline()) {
        const std::timespec length = p.next_look();
        futex_wait(v.value_, while_it_is, &length);
      } else {
        futex_wait(v.value_, while_it_is);
      }
    } else if constexpr (Policy::yields) {
      sched_yield();
    } else {
      for (int i = 0; i < 16 && v.value_.load(std::memory_order_relaxed) == while_it_is; ++i) cpu_relax();
    }
  }
  static void wake(Process&, Var<std::uint32_t>& v) noexcept {
    if constexpr (Policy::parks) futex_wake(v.value_, 1);
  }
};

}  // namespace kgate
