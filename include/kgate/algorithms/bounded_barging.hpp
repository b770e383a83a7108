// SPDX-License-Identifier: Apache-2.0
#pragma once

/// ticket_queue.hpp with barging: while the first waiter sleeps, a permit may be released for the first to come, but
/// no process is overtaken more than b times.
///
/// Source       this project; bounded waiting for enabling is C4' of Fischer, Lynch, Burns & Borodin 1979
/// Promises     those of ticket_queue.hpp, but for the order: at most b overtakings of a queued process
/// Variables    W as there
///              Q  (e, c, f, a, l)  l bargeable permits; a queued processes done spinning; f: whether a removal of
///                                  permits has stopped barging; c permits released for barging in the epoch e
///                                  initially all 0
///              F                   the ticket that ends such a stop                                   initially 0
/// Invariants   those of ticket_queue.hpp, with l among the free permits, and
///              B1  an epoch releases at most c_max permits for barging, and none in the epoch e while the first
///                  waiter carries a stamp of e - m or before. A stamp is the epoch its process saw before it drew its
///                  ticket, so a queued process is passed by at most m * c_max <= b permits released meanwhile and by
///                  the l that were there when it drew
///              B2  a permit is released for barging only under the bucket's lock, with the first waiter registered
///                  there and woken. A server of the queue makes sure that where l > 0 the first waiter is woken or
///                  gets the permit; a waiter that registers hands bargeable permits back first
/// Deviations   none
/// Memory model sequential consistency
/// Evidence     tests/semaphore: room_model_test, overtaking_test (B1 counted exactly under hostile schedules),
/// waiting_test

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

#include "kgate/algorithms/ticket_queue.hpp"

namespace kgate {

/// The fields of Q, from the right: bargeable, asleep, stops, spent, epoch.
template <class Word, int b>
struct barging_quota {
  using word = Word;
  static constexpr int digits = std::numeric_limits<word>::digits;
  static constexpr bool wide = digits >= 64;
  static constexpr int bargeable_bits = wide ? 10 : 3, asleep_bits = wide ? 12 : 3, stops_bits = wide ? 6 : 2;
  static constexpr int spent_bits = wide ? 12 : 3;
  static constexpr int asleep_at = bargeable_bits, stops_at = asleep_at + asleep_bits, spent_at = stops_at + stops_bits;
  static constexpr int epoch_at = spent_at + spent_bits;
  static constexpr word mask(int bits) { return static_cast<word>((word{1} << bits) - 1); }
  static constexpr word one_asleep = static_cast<word>(word{1} << asleep_at);
  static constexpr word one_spent = static_cast<word>(word{1} << spent_at);
  static constexpr word asleep_mask = static_cast<word>(mask(asleep_bits) << asleep_at);

  /// m: for how many epochs a waiter may be passed; and how many permits are released for barging in each (B1).
  static constexpr int epochs = std::clamp(b, 2, 16);
  static constexpr word spent_max = static_cast<word>(std::max(1, b / epochs * 15 / 16));
  static_assert(spent_max <= mask(spent_bits));
  /// A waiter keeps so many bits of the epoch. Ages are below 2m while one is queued.
  static constexpr int stamp_bits = std::bit_width(4U * epochs - 1);

  static constexpr word bargeable(word q) { return static_cast<word>(q & mask(bargeable_bits)); }
  static constexpr word one_less(word q) { return bargeable(q) > 0 ? static_cast<word>(q - 1) : q; }
  static constexpr word stops(word q) { return static_cast<word>((q >> stops_at) & mask(stops_bits)); }
  static constexpr word spent(word q) { return static_cast<word>((q >> spent_at) & mask(spent_bits)); }
  /// Grows with every permit released for barging; at the end of an epoch by more than one.
  static constexpr word released_so_far(word q) { return static_cast<word>(q >> spent_at); }
  static constexpr word epoch_of(word q) { return static_cast<word>(q >> epoch_at); }
  static constexpr word age(word q, word stamp) {
    return static_cast<word>((epoch_of(q) - stamp) & mask(digits - epoch_at));
  }
  static constexpr bool somebody_asleep(word q) { return (q & asleep_mask) != 0; }
  static constexpr word make(word epoch, word spent) {
    return static_cast<word>(static_cast<word>(epoch << epoch_at) | static_cast<word>(spent << spent_at));
  }
  /// Beyond what the field can count, sleepers go uncounted: it only says that it is worth looking.
  static constexpr word with_one_asleep(word q) {
    return (q & asleep_mask) == asleep_mask ? q : static_cast<word>(q + one_asleep);
  }
  /// What of a stamp a waiter keeps: an old one is as good as one of m epochs ago.
  static constexpr word short_stamp(word q, word stamp) {
    const word kept = age(q, stamp) < epochs ? stamp : static_cast<word>(epoch_of(q) - epochs);
    return static_cast<word>(kept & mask(stamp_bits));
  }
  /// q with one more bargeable permit, or q itself if that may not be while the first waiter has this stamp (B1).
  static constexpr word with_one_more(word q, word stamp) {
    if (stopped(q) != stop::none || bargeable(q) == mask(bargeable_bits)) return q;
    const word next = spent(q) < spent_max
                          ? static_cast<word>(q + one_spent)
                          : static_cast<word>((q & (one_spent - 1)) | make(static_cast<word>(epoch_of(q) + 1), 1));
    if ((age(next, stamp) & mask(stamp_bits)) >= static_cast<word>(epochs)) return q;
    return static_cast<word>(next + 1);
  }
  /// The number of stops goes up in threes: not stopped, stopped and F not known yet, stopped until F. It goes on from
  /// stop to stop, so that one is not mistaken for another.
  enum class stop : unsigned char { none, removing, until_F };
  static constexpr stop stopped(word q) { return static_cast<stop>(stops(q) % 3); }
  static constexpr word with_next_stop(word q) {
    constexpr word cycle = static_cast<word>(mask(stops_bits) / 3 * 3);
    const word next = static_cast<word>((stops(q) + 1) % cycle);
    return static_cast<word>((q & ~(mask(stops_bits) << stops_at)) | (next << stops_at));
  }
  /// q with n fewer bargeable permits; if these are not enough, with none, and barging is stopped.
  static constexpr word with_fewer(word q, word n) {
    if (bargeable(q) >= n) return static_cast<word>(q - n);
    const word none = static_cast<word>(q - bargeable(q));
    return stopped(q) == stop::removing ? none
           : stopped(q) == stop::none   ? with_next_stop(none)
                                        : with_next_stop(with_next_stop(none));
  }
};

template <class M, int b, class L = ticket_word<>>
class bounded_barging : public ticket_queue<M, L, bounded_barging<M, b, L>> {
  using base = ticket_queue<M, L, bounded_barging>;
  friend base;

 public:
  using typename base::Caller;
  using typename base::entry;
  using typename base::Private;
  using typename base::Process;
  using typename base::word;
  using typename base::WordVar;
  using quota = barging_quota<word, b>;
  static_assert(b >= 2 && b <= 40000, "at most b overtakings: from 2 to 40000");

  constexpr bounded_barging(typename M::Memory& memory, int N, int k, word first = 0, int names = 0)
      : base(memory, N, k, first, names),
        Q(memory, {.name = "Q"}, quota::make(first, 0)),
        F(memory, {.name = "F"}, 0) {}

  using base::acquire;
  using base::release;
  using base::wait;

  template <class Expired>
  bool acquire(Caller p, word w, Expired expired) {
    will_change(Q);
    const word before = Q.read(p["0q"]);
    if (quota::somebody_asleep(before)) [[unlikely]]
      return acquire_barging(p, w, expired);
    const word old = this->W.fetch_add(p["1"], w);
    if (!L::had_free(old, w)) [[unlikely]]
      return acquire_stamped(p, before, old, w, expired);
    return true;
  }
  /// As ticket_queue::enter; where a waiter sleeps it tries for a permit first.
  bool enter(Process& p, Private& mine, word w) {
    const word before = Q.read(p["0q"]);
    if (quota::somebody_asleep(before)) [[unlikely]]
      return this->enter_spinning(p, mine, w);
    const word old = this->W.fetch_add(p["1"], w);
    if (!L::had_free(old, w)) [[unlikely]]
      return enter_stamped(p, mine, before, old, w);
    p.doorway_end();
    return true;
  }
  bool try_enter(Process& p, word w) { return base::try_enter(p, w) || (w == 1 && take_bargeable(p)); }

  template <class Expired>
  bool wait(Process& p, Private& mine, Expired&& expired) {
    if (!L::waits(watch<M>(p["2"], this->W, base::admits(mine.last), base::standing_of(mine.last)), mine.last))
      return true;
    const word q = Q.rmw(p["2a"], quota::with_one_asleep);
    mine.stamp = quota::short_stamp(q, mine.stamp);
    mine.counted = quota::with_one_asleep(q) != q;
    const bool inside = this->wait_registered(p, mine, expired);
    if (mine.counted) Q.fetch_add(p["7a"], static_cast<word>(word{0} - quota::one_asleep));
    return inside;
  }

  bool release(Caller p, word n, word one_out) {
    if (n == 1 && may_leave_to_others(p)) [[unlikely]] {
      if (release_for_barging(p)) return true;
    }
    return base::release(p, n, one_out);
  }

  /// As both of ticket_queue's, bargeable ones first; and none is released for barging before all that have drawn
  /// a ticket by then are admitted. One call at a time.
  template <class... Taken>
  void remove_permits(Process& p, word n, Taken&... taken) {
    const word q = Q.rmw(p["13q"], [n](word now) { return quota::with_fewer(now, n); });
    n = static_cast<word>(n - std::min(quota::bargeable(q), n));
    if (n == 0) return;
    const word old = base::remove_permits(p, n, taken...);
    F.write(p["13f"], L::next_ticket(old));
    Q.rmw(p["13s"], quota::with_next_stop);
  }

  /// How many permits are bargeable at the moment.
  word bargeable(Process& p) { return quota::bargeable(Q.read(p["Q"])); }

 protected:
  static constexpr word spin_passages_max = static_cast<word>(b / 4);

  /// Whether a release may leave its permit to the first to come.
  bool may_leave_to_others(Caller p) { return quota::somebody_asleep(Q.read(p["23q"])); }

  /// Tries for a permit before it draws a ticket.
  template <class Expired>
  [[gnu::noinline]] bool acquire_barging(Caller caller, word w, Expired expired) {
    auto&& p = process_of<M>(caller, this->key());
    Private mine;
    return this->enter_spinning(p, mine, w) || wait(p, mine, expired);
  }
  template <class Expired>
  [[gnu::noinline]] bool acquire_stamped(Caller caller, word before, word old, word w, Expired expired) {
    auto&& p = process_of<M>(caller, this->key());
    Private mine;
    return enter_stamped(p, mine, before, old, w) || wait(p, mine, expired);
  }
  bool enter_stamped(Process& p, Private& mine, word before, word old, word w) {
    mine.stamp = quota::epoch_of(before);
    return this->enter_drawn(p, mine, old, w);
  }
  /// Before a ticket is drawn (B1).
  void note_stamp(Process& p, Private& mine) { mine.stamp = quota::epoch_of(Q.read(p["0q"])); }

  /// Whether newcomers, with W as seen, may hope to pass those queued.
  bool may_barge(Process& p, word seen) {
    return quota::somebody_asleep(Q.read(p["30"])) && may_be_passed<M>(p, L::next_ticket(seen));
  }
  bool take_bargeable_if_any(Process& p) { return quota::bargeable(Q.read(p["31"])) > 0 && take_bargeable(p); }
  bool take_bargeable(Process& p) {
    if (quota::bargeable(Q.rmw(p["22"], quota::one_less)) == 0) return false;
    noted<M>(p, event::overtaking);
    return true;
  }
  /// Turns a bargeable permit into the admission of the first waiter; false if there is none. Under the lock: serve()
  /// follows.
  bool hand_back_bargeable(Process& p) {
    if (quota::bargeable(Q.rmw(p["29"], quota::one_less)) == 0) return false;
    this->put_back(p["29w"], 1);
    return true;
  }
  waiter_state state_to_wait_in(Process& p, const Private& mine) {
    return may_be_passed<M>(p, mine.last) ? waiter_state::waiting : waiter_state::handoff_only;
  }

  /// Instead of waiting for the first waiter to wake up, leaves the permit to the first to come. The first waiter
  /// is woken, and admitted as soon as it runs. False if that may not be: the permit is still the caller's.
  [[gnu::noinline]] bool release_for_barging([[maybe_unused]] Caller caller) {
    if constexpr (!detail::RoomMachine<M>) {
      return false;
    } else {
      will_change(Q);
      auto&& p = process_of<M>(caller, this->key());
      using protocol = detail::bucket_protocol<M>;
      auto& bucket = M::bucket_of(p, *this);
      if (!protocol::try_lock(p, bucket)) return false;
      typename M::Taken taken;
      const bool released = release_to_sleeper(p, bucket);
      protocol::open(p, bucket, *this, taken);
      return released;
    }
  }
  template <class Bucket>
  bool release_to_sleeper(Process& p, Bucket& bucket) {
    const word q = Q.read(p["23"]);  // what is seen from here on counts for its epoch only
    const word seen = this->W.read(p["24"]);
    if (L::queued(seen) == 0) return false;
    if (quota::stopped(q) != quota::stop::none) [[unlikely]] {
      end_stop(p, q, seen);
      return false;
    }
    const entry front = bucket.front(p["25f"], *this);
    if (!front.exists || front.last != L::E(seen) || front.state == waiter_state::handoff_only) return false;
    const auto one_more = [q, stamp = front.stamp](word now) {
      return quota::epoch_of(now) == quota::epoch_of(q) ? quota::with_one_more(now, stamp) : now;
    };
    const word old = Q.rmw(p["25"], one_more);
    if (one_more(old) == old) return false;
    if (front.state == waiter_state::waiting) wake_for_bargeable(p, bucket, one_more(old));
    return true;
  }
  template <class Bucket>
  void wake_for_bargeable(Process& p, Bucket& bucket, word q) {
    noted<M>(p, event::waking_to_barge, quota::released_so_far(q));
    bucket.set_front_state(p["28"], *this, waiter_state::woken_to_barge, detail::waiter_word::may_barge);
  }
  /// All that had drawn a ticket when permits were removed are admitted: barging may go on.
  void end_stop(Process& p, word q, word seen) {
    if (quota::stopped(q) != quota::stop::until_F) return;
    const word since = L::wrapped(static_cast<word>(L::E(seen) - F.read(p["23f"])));
    if (since <= L::ticket_mask / 2) Q.compare_and_swap(p["23s"], q, quota::with_next_stop(q));
  }

  /// Part of serve(): the first waiter is not admitted. True if that may have changed (B2).
  template <class Bucket>
  bool serve_bargeable(Process& p, Bucket& bucket, const entry& front, word seen) {
    const word q = Q.read(p["26"]);
    if (quota::bargeable(q) == 0) return false;
    if (front.last == L::E(seen) && front.state != waiter_state::handoff_only) {
      if (front.state == waiter_state::waiting) wake_for_bargeable(p, bucket, q);
      return false;
    }
    return hand_back_bargeable(p);
  }

  /// Awake and running: from now on leavers hand over at once. True if it was woken meanwhile.
  template <class Bucket, class Waiter>
  bool spin_after_wake(Process& p, Bucket& bucket, Waiter& me) {
    using protocol = detail::bucket_protocol<M>;
    typename M::Taken taken;
    protocol::lock(p, bucket);
    bucket.set_state(p["34"], me, waiter_state::handoff_only);
    me.clear(p["34c"], detail::waiter_word::may_barge);
    noted<M>(p, event::woken_to_barge, quota::released_so_far(Q.read(p["35q"])));
    if (hand_back_bargeable(p)) this->serve(p, bucket, taken);
    protocol::open(p, bucket, *this, taken);
    for (spinner<M> spin(p);;) {
      if ((me.read(p["35"]) & detail::waiter_word::woken) != 0) return spin.won();
      if (!spin.again()) return false;
    }
  }

  WordVar Q, F;
};

}  // namespace kgate
