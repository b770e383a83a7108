// SPDX-License-Identifier: Apache-2.0
#pragma once

/// One bucket of the waiting room: how threads that wait and threads that leave meet, as a text over a machine.
///
/// The room is where everything that waits inside one process waits. It has a fixed number of buckets of memory that is
/// never given back; a semaphore's waiters are all in the bucket of its address, in ticket order.
///
/// Variables    lock    bits: locked; again: another came while it was locked; contended: a process sleeps on the lock
///              count   how many waiters the bucket holds; written under the lock only
///              line    the waiters; only under the lock
/// Invariants   R1  a waiter raises `count` (announce) before it reads W; a leaver changes W before it reads `count`.
///                  So one of the two sees the other
///              R2  a leaver never waits for the lock: where it is held it sets `again`, and the holder serves every
///                  queue of the bucket once more before it opens. So a release may run in a signal handler
///              R3  W of a semaphore is touched by others than its callers only under the lock while a waiter of that
///                  address is in the queue, or has been taken out of it and not been woken yet. Its acquire has not
///                  returned, so the semaphore exists. The address alone proves nothing: another semaphore may be there
///                  by now
///              R4  a waiter taken out of the queue is woken by the thread that took it, after the lock is open; that
///                  store is the last touch of its memory
///              R5  one that admits n tickets takes up to n admitted waiters out of the queue afterwards, or sees to it
///                  that all are. So of the visits still to come there are never fewer than of admitted waiters in the
///                  queue
/// Memory model sequential consistency; R1 needs it
/// Evidence     tests/semaphore: room_model_test (all schedules, with mutants of R1, R2 and R3), model_deep_test (R5),
///              lifetime_test (delays put in at every step)
///
/// A machine with a room (RoomMachine) has the types Bucket (with the members above; queue operations are named in
/// native_room.hpp), Waiter and Taken, and bucket_of(p, algorithm).

#include <concepts>
#include <cstdint>

#include "kgate/detail/waiting/waiting.hpp"

namespace kgate::detail {

template <class M>
concept RoomMachine = requires {
  typename M::Bucket;
  typename M::Waiter;
  typename M::Taken;
};

/// What a waiter's word says. The bits are only ever added, but for `may_barge` and `interrupted`, which the waiter
/// takes away.
namespace waiter_word {
inline constexpr std::uint32_t asleep = 0;
inline constexpr std::uint32_t woken = 1;        ///< taken out of the queue: the last touch by others
inline constexpr std::uint32_t interrupted = 2;  ///< something other than an admission is to be looked at
inline constexpr std::uint32_t may_barge = 4;    ///< there is a bargeable permit
}  // namespace waiter_word

template <class M>
struct bucket_protocol {
  using Process = typename M::Process;
  using Bucket = typename M::Bucket;
  using Taken = typename M::Taken;
  static constexpr std::uint32_t unlocked = 0, locked = 1, again = 2, contended = 4;

  /// Waits for the lock. Not for leavers.
  static void lock(Process& p, Bucket& b) {
    if constexpr (requires { M::before_lock(p, b); }) {
      if (try_lock(p, b)) [[likely]]
        return;
      M::before_lock(p, b);
    }
    wait_for_lock(apart(p), b);
  }

  /// Takes the lock if it is open.
  static bool try_lock(Process& p, Bucket& b) {
    return (rmw_from(b.lock, p["b3"], unlocked, [](std::uint32_t v) { return v | locked; }) & locked) == 0;
  }

  /// After W changed so that up to `admitted` more tickets are admitted: wakes as many waiters of `algorithm` as that,
  /// if they are admitted, or leaves that to the holder of the lock (R5).
  template <class Algorithm>
  static void visit(Process& p, Bucket& b, Algorithm& algorithm, typename Algorithm::word admitted) {
    [[maybe_unused]] auto frame = p.frame();
    if (!lock_or_leave_word(p, b)) return;
    Taken taken;
    M::serve(p, b, algorithm, taken, admitted);
    open(p, b, algorithm, taken);
  }
  /// The same; those taken out are left to the caller, which wakes them.
  template <class Algorithm>
  static void visit(Process& p, Bucket& b, Algorithm& algorithm, typename Algorithm::word admitted, Taken& taken) {
    if (!lock_or_leave_word(p, b)) return;
    M::serve(p, b, algorithm, taken, admitted);
    open_only(p, b, algorithm, taken);
  }

  /// Opens the lock, after serving all queues as often as that was asked for, and wakes those taken out.
  template <class Algorithm>
  static void open(Process& p, Bucket& b, Algorithm& algorithm, Taken& taken) {
    const std::uint32_t old = opened(p, b);
    if ((old & (again | contended)) == 0) [[likely]]
      return taken.wake_all(p);
    Taken more = taken;  // a copy, for the same reason as apart()
    go_on_opening(apart(p), b, algorithm, more, old);
  }
  /// The same; those taken out are left to the caller, which wakes them.
  template <class Algorithm>
  static void open_only(Process& p, Bucket& b, Algorithm& algorithm, Taken& taken) {
    std::uint32_t old = opened(p, b);
    for (; (old & again) != 0; old = opened(p, b)) M::serve_all(p, b, algorithm, taken);
    if ((old & contended) != 0) M::wake(p["b7"], b.lock);
  }
  /// The same where none was taken out yet.
  template <class Algorithm>
  static void open(Process& p, Bucket& b, Algorithm& algorithm) {
    const std::uint32_t old = opened(p, b);
    if ((old & (again | contended)) == 0) [[likely]]
      return;
    Taken none;
    go_on_opening(apart(p), b, algorithm, none, old);
  }

 private:
  /// Whether there is a waiter to serve and the lock was open; if it was held, its holder learns of it (R2).
  static bool lock_or_leave_word(Process& p, Bucket& b) {
    if (b.announced(p["b4"]) == 0) return false;
    const std::uint32_t old =
        rmw_from(b.lock, p["b5"], unlocked, [](std::uint32_t v) { return (v & locked) != 0 ? v | again : v | locked; });
    return (old & locked) == 0;
  }
  template <class P>
  [[gnu::noinline]] static void wait_for_lock(P&& p, Bucket& b) {
    [[maybe_unused]] auto frame = p.frame();
    for (std::uint32_t as = locked;; as = locked | contended) {
      p.live(as);
      const std::uint32_t old = rmw_from(b.lock, p["b1"], unlocked,
                                         [as](std::uint32_t v) { return (v & locked) != 0 ? v | contended : v | as; });
      if ((old & locked) == 0) [[likely]]
        return;
      M::sleep_for_lock(p["b2"], b.lock, old | contended);
    }
  }

  /// The lock as it was; it is open now, unless another asked for service.
  static std::uint32_t opened(Process& p, Bucket& b) {
    return rmw_from(b.lock, p["b6"], locked, [](std::uint32_t v) { return (v & again) != 0 ? v & ~again : unlocked; });
  }
  template <class P, class Algorithm>
  [[gnu::noinline]] static void go_on_opening(P&& p, Bucket& b, Algorithm& algorithm, Taken& taken, std::uint32_t old) {
    for (; (old & again) != 0; old = opened(p, b)) M::serve_all(p, b, algorithm, taken);
    if ((old & contended) != 0) M::wake(p["b7"], b.lock);
    taken.wake_all(p);
  }
};

}  // namespace kgate::detail
