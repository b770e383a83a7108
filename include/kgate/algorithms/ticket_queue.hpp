// SPDX-License-Identifier: Apache-2.0
#pragma once

/// k-exclusion by one packed word: one read-modify-write to enter and one to leave when none waits, a first-come
/// first-enabled queue otherwise.
///
/// Source       this project. The passive admission is that of Fischer, Lynch, Burns & Borodin 1979 (C6).
/// Promises     k-exclusion, starvation freedom with at most k-1 crashes at any step, bounded exit, FIFO enabling.
///              Waiting can be given up. A process may take several permits at once: it queues for all of them and
///              none passes it (head-of-line). 2 remote references a passage alone on CC. Primitives: fetch-and-add,
///              compare-and-swap. On a machine with a waiting room (detail/waiting/bucket.hpp) waiters sleep there; a
///              process that crashes while it holds a bucket's lock stops those that wait: threads do not die without
///              their process.
/// Variables    W  (E, C)  E: tickets below E are admitted. C: bias - S, where S = free permits less tickets that wait;
///                         the next ticket is E - S                                                           initially
///                         S = k
/// Invariants   T1  E = X + k, where X counts permits handed back: W alone decides which are admitted
///              T2  a ticket t in [E, E - S) is not admitted. remove_permits() moves E back; tickets below the largest
///                  E there ever was stay "admitted once", and a ticket not among them is admitted only when, with it,
///                  at most k of them have not left
///              T3  after the step that gives a permit away a leaver touches the waiting room and nothing else (R3)
///              T4  a ticket given up is handed back when its turn comes. Until then the waiter behind it carries it: a
///                  waiter stands for the tickets [first, last], of which the last w are its own
///              T5  a waiter may be suspended: no process waits, and what takes it out of the queue resumes it, once.
///                  It is suspended only if nothing ends its wait when it is inserted, asked under the lock; what ends
///                  it later takes the lock afterwards and finds it in the queue (withdraw), or finds it gone
///              T6  where W has names (ticket_word.hpp), a name is free in W unless one inside has it. Those
///                  inside are no more than there are names, so one inside without a name finds one
/// Doorway      up to the ticket. A process that finds no permit free and none queued hands the ticket back and spins
///              a bounded while before it draws for good: meanwhile it is not queued, and newcomers may take what
///              gets free
/// Deviations   none. Limits: tickets wrap. Fewer than half of all tickets may be queued at a time.
/// Memory model sequential consistency; R1 needs it
/// Evidence     tests/semaphore: model_test (all promises at N=3 k=1,2 and N=4 k=2,3, tickets wrapping),
///              room_model_test (with the waiting room and the kernel's way to sleep: giving up, weights, resizing,
///              destruction right after the last acquire, mutants), stress_test, waiting_test, lifetime_test and
///              misuse_test on real threads

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kgate/algorithms/ticket_word.hpp"
#include "kgate/detail/machine.hpp"
#include "kgate/detail/waiting/bucket.hpp"
#include "kgate/detail/waiting/waiting.hpp"

namespace kgate {

/// How a registered waiter may be treated by leavers.
enum class waiter_state : unsigned char {
  waiting,         ///< sleeps, or is about to
  woken_to_barge,  ///< the same, and a bargeable permit was announced to it
  handoff_only,    ///< the next permit is for it: none may barge past it
};

/// A waiter as its queue describes it: stands for the tickets [first, last], of which the last `weight` are its own.
template <class Word>
struct queue_entry {
  Word first = 0;
  Word last = 0;
  Word weight = 1;
  Word stamp = 0;
  waiter_state state = waiter_state::waiting;
  bool suspended = false;
  bool exists = false;
  void* at = nullptr;  ///< where a machine found it
};

/// @tparam Barging  what adds barging to it (bounded_barging.hpp), or void
template <class M, class L = ticket_word<>, class Barging = void>
class ticket_queue {
 public:
  using Process = typename M::Process;
  using layout = L;
  using word = typename L::word;
  using WordVar = typename M::template Var<word>;
  using entry = queue_entry<word>;
  using Caller = caller_of<M>;

  enum class giving_up : unsigned char {
    no,
    not_yet,   ///< the ticket behind it is about to be registered, or handed back
    admitted,  ///< too late
    done,
  };
  /// What became of a request that no process waits for.
  enum class enrollment : unsigned char { inside, suspended, expired };
  /// One request.
  struct Private {
    word last = 0;   ///< the last of its tickets: when it is admitted, all are
    word w = 1;      ///< how many
    word ahead = 0;  ///< tickets queued before it when they were drawn
    word stamp = 0;  ///< for barging
    giving_up gives_up = giving_up::no;
    bool counted = false;  ///< for barging
  };

  /// `first` is the first ticket: tests start near the wrap. `names` is how many names W has.
  constexpr ticket_queue(typename M::Memory& memory, int /*N*/, int k, word first = 0, int names = 0)
      : W(memory, {.name = "W"}, L::make(L::wrapped(first), static_cast<word>(k), names)) {}

  void acquire(Process& p, Private& mine) {
    if (!self().enter(p, mine, 1)) [[unlikely]]
      self().wait(p, mine);
    p.live();
  }
  void release(Process& p, Private&) {
    [[maybe_unused]] auto frame = p.frame();
    self().release(p, 1, L::one_out(L::permits_max));
  }

  /// Takes w permits, waiting for them in the queue. False: expired() held first, and nothing is taken.
  template <class Expired>
  bool acquire(Caller p, word w, Expired expired) {
    const word old = W.fetch_add(p["1"], w);
    if (!L::had_free(old, w)) [[unlikely]]
      return acquire_drawn(p, old, w, expired);
    return true;
  }

  /// The same in two parts. Draws w tickets. True: inside. False: wait() next.
  bool enter(Process& p, Private& mine, word w) {
    const word old = W.fetch_add(p["1"], w);
    if (!L::had_free(old, w)) [[unlikely]]
      return enter_drawn(p, mine, old, w);
    p.doorway_end();
    return true;
  }

  /// Takes w permits if they are free now.
  bool try_enter(Process& p, word w) {
    for (;;) {
      const word seen = W.read(p["1r"]);
      if (!L::had_free(seen, w)) return false;
      if (W.compare_and_swap(p["1c"], seen, static_cast<word>(seen + w))) return true;
    }
  }

  /// Takes a permit and a name if a permit is free now and no other changes W: the name. Else -1: enter() next,
  /// which others cannot make fail.
  template <class P>
  int try_enter_named(P&& p) {
    const word seen = W.read(p["1r"]);
    if (!L::had_free(seen, 1)) [[unlikely]]
      return -1;
    const word without = L::without_lowest_name(seen);  // T6
    if (!W.compare_and_swap(p["1n"], seen, static_cast<word>(without + 1))) [[unlikely]]
      return -1;
    return L::name_of(static_cast<word>(seen ^ without));
  }
  /// A name for a process that is inside without one (T6).
  int take_name(Process& p) {
    return L::name_of(L::lowest_name(W.rmw(p["n1"], [](word v) { return L::without_lowest_name(v); })));
  }

  /// Queued until admitted.
  void wait(Process& p, Private& mine) {
    self().wait(p, mine, [] { return false; });
  }
  /// Queued until admitted: true. False: expired() held, and tickets and permits are given up.
  template <class Expired>
  bool wait(Process& p, Private& mine, Expired&& expired) {
    if (yield_in_queue<M>(p["2l"], W, admits(mine.last), standing_of(mine.last))) return true;
    return wait_registered(p, mine, expired);
  }

  /// Takes w permits if they are free; else queues `me` and does not wait. Suspended: what admits or withdraws
  /// it resumes it, from now on at any time, so the caller touches it no more. Expired: expired() held, and it is
  /// queued, not suspended: give_up_enrolled() next.
  template <class Waiter, class Expired>
  enrollment enroll(Process& p, Waiter& me, word w, Expired&& expired) {
    using protocol = detail::bucket_protocol<M>;
    auto& b = M::bucket_of(p, *this);
    Private mine;
    enrollment now = enrollment::inside;
    protocol::lock(p, b);
    b.announce_before_rmw(p["a1"]);  // R1
    typename M::Taken taken;
    offer_bargeable(p, b, taken);
    const word old = W.fetch_add(p["a2"], w);
    p.doorway_end();
    if (L::had_free(old, w)) [[unlikely]] {
      b.retract(p["a3"]);
    } else {
      note_tickets(p, mine, old, w);
      now = enrollment::suspended;
      if (expired()) [[unlikely]] {  // T5
        now = enrollment::expired;
        insert(p["a4"], b, me, mine, waiter_state::handoff_only, false);
      } else {
        insert(p["a4"], b, me, mine, waiter_state::handoff_only, true);
      }
    }
    if constexpr (barging)
      protocol::open(p, b, self(), taken);
    else
      protocol::open(p, b, self());
    return now;
  }
  /// After enroll() found it expired: whether it gave up. Else it was too late, and it is inside.
  template <class Waiter>
  bool give_up_enrolled(Process& p, Waiter& me) {
    if (give_up_at_last(p, M::bucket_of(p, *this), me, false)) return true;
    me.await_woken(p["a5"]);
    return false;
  }
  /// Ends the wait of a waiter that may be suspended. True: it was, its tickets are given up, and the caller resumes
  /// it. False: it is not suspended, or another took it out of the queue and resumes it.
  template <class Waiter>
  bool withdraw(Process& p, Waiter& me) {
    return give_up_at_last(p, M::bucket_of(p, *this), me, true);
  }
  /// Ends the wait of every suspended waiter for more than `most` permits: note(waiter) under the lock, and the caller
  /// resumes those taken out. Of what the caller knows in this frame only `taken` may matter to it.
  template <class Note, class Taken>
  void withdraw_heavier(Process& p, word most, Note&& note, Taken& taken) {
    using protocol = detail::bucket_protocol<M>;
    auto& b = M::bucket_of(p, *this);
    for (bool again = true; again;) {
      p.live(taken);
      again = false;
      protocol::lock(p, b);
      b.for_each_backwards(p["c1"], *this, [&](auto& w, const entry& at) {
        if (!at.suspended || at.weight <= most) return true;
        const giving_up how = give_up_locked(p, b, w, at, taken);
        if (how == giving_up::done) note(w), taken.add(w);
        again = again || how == giving_up::not_yet;
        return how != giving_up::admitted;  // else all before it are admitted too
      });
      protocol::open_only(p, b, self(), taken);
      if (again) p.pause();
    }
  }

  /// Hands n of k permits back, first of all to those queued. `one_out` says k (ticket_word.hpp) and is only a hint,
  /// read before: this object may be gone as soon as the permits are given away. False if there seem to be more than k
  /// now.
  bool release(Caller p, word n, word one_out) {
    const word old = put_back(p["8"], n);
    // The usual case: these were all that were out, and none is queued.
    if (!L::had_out(old, one_out, n)) [[unlikely]]
      return finish_release(p, old, n, one_out);
    return true;
  }

  enum class naming : unsigned char { good, too_many, not_taken };
  /// Hands a permit back, and its name in the same step.
  naming release_named(Caller p, int name, word one_out) {
    const word bit = L::name_bit(name);
    if constexpr (barging) {
      if (self().may_leave_to_others(p)) [[unlikely]] {  // the permit may go elsewhere than into W
        if ((W.fetch_add(p["n2"], bit) & bit) != 0) return naming::not_taken;
        return self().release(p, 1, one_out) ? naming::good : naming::too_many;
      }
    }
    const word old = put_back(p["8"], 1, bit);
    if ((old & bit) != 0) [[unlikely]]
      return naming::not_taken;
    if (!L::had_out(old, one_out, 1)) [[unlikely]]
      return finish_release(p, old, 1, one_out) ? naming::good : naming::too_many;
    return naming::good;
  }

  /// Puts n more permits into use.
  void add_permits(Process& p, word n) {
    if constexpr (!detail::RoomMachine<M>) {
      put_back(p["12"], n);
    } else {
      typename M::Taken taken;
      self().add_permits(p, n, taken);
      taken.wake_all(p);
    }
  }
  /// The same; the caller wakes those taken out of the queue.
  template <class Taken>
  void add_permits(Process& p, word n, Taken& taken) {
    if (L::queued(put_back(p["12"], n)) > 0)
      detail::bucket_protocol<M>::visit(p, M::bucket_of(p, *this), self(), n, taken);
  }
  /// Takes n permits out of use, free ones first. Those inside and those admitted already stay; until as many have
  /// left, no other is admitted (T2). No registered waiter is admitted when E goes back.
  /// W as it was.
  word remove_permits(Process& p, word n) {
    if constexpr (!detail::RoomMachine<M>) {
      return W.fetch_add(p["13"], static_cast<word>(word{0} - L::handing_back(n)));
    } else {
      typename M::Taken taken;
      const word old = remove_permits(p, n, taken);
      taken.wake_all(p);
      return old;
    }
  }
  /// The same; the caller wakes those taken out of the queue.
  template <class Taken>
  word remove_permits(Process& p, word n, Taken& taken) {
    using protocol = detail::bucket_protocol<M>;
    const word back = static_cast<word>(word{0} - L::handing_back(n));
    auto& b = M::bucket_of(p, *this);
    protocol::lock(p, b);
    word seen = 0;
    do {
      serve(p, b, taken);
      seen = W.read(p["13r"]);
    } while (first_is_admitted(p, b, seen) || !W.compare_and_swap(p["13"], seen, static_cast<word>(seen + back)));
    protocol::open_only(p, b, self(), taken);
    return seen;
  }

  /// What the room knows this object by.
  const void* key() const noexcept { return this; }
  /// W of the moment.
  word read(Process& p) { return W.read(p["W"]); }

  /// What the room calls under the lock of this object's bucket: takes out of the queue all admitted, and hands back
  /// tickets given up whose turn has come (T4). Doing it twice does no harm. Where none barges, no more than `most`
  /// waiters are taken out, and one for each ticket handed back.
  template <class Bucket, class Taken>
  void serve(Process& p, Bucket& b, Taken& taken, word most = L::permits_max) {
    const entry front = b.front(p["s1"], *this);
    if (!front.exists) return;
    const word seen = W.read(p["s2"]);  // once: one that changes W later comes here later
    if (!barging && most == 1 && !L::waits(seen, front.last) && carried_by(front) == 0) [[likely]]
      return b.pop_front(p["s3"], *this, front, taken);
    Taken more = taken;  // a copy, for the same reason as apart()
    serve_more(apart(p), b, more, most, seen);
    taken = more;
  }

 protected:
  static constexpr bool barging = !std::is_void_v<Barging>;
  using self_type = std::conditional_t<barging, Barging, ticket_queue>;
  self_type& self() { return static_cast<self_type&>(*this); }

  /// The rest of serve(), after W was seen.
  template <class P, class Bucket, class Taken>
  [[gnu::noinline]] void serve_more(P&& p, Bucket& b, Taken& taken, word most, word seen) {
    for (entry front = b.front(p["s4"], *this); front.exists; front = b.front(p["s4"], *this)) {
      const word carried = carried_by(front);
      if (!L::waits(seen, front.last)) {
        b.pop_front(p["s3"], *this, front, taken);
        if (carried == 0) [[likely]] {
          if (!barging && --most == 0) return;
          continue;
        }
        most = static_cast<word>(most - 1 + carried);
        put_back(p["s5"], carried);
      } else if (carried > 0 && L::at_front(seen, front.first)) [[unlikely]] {
        b.drop_carried(p["s6"], *this);
        most = static_cast<word>(most + carried);
        put_back(p["s7"], carried);
      } else {
        if constexpr (!barging) return;
        if constexpr (barging) {
          if (!self().serve_bargeable(p, b, front, seen)) return;
        }
      }
      seen = W.read(p["s8"]);
    }
  }

  static auto admits(word t) {
    return [t](word v) { return !L::waits(v, t); };
  }
  static auto standing_of(word t) {
    return [t](word v) {
      return standing{t, static_cast<std::size_t>(L::ahead(v, t)), static_cast<std::size_t>(L::queued(v))};
    };
  }
  static word carried_by(const entry& e) { return L::wrapped(static_cast<word>(e.last + 1 - e.weight - e.first)); }
  static word tickets_of(const entry& e) { return L::wrapped(static_cast<word>(e.last + 1 - e.first)); }

  /// n more tickets are admitted, and a name is free again; W as it was. `p` carries the label.
  template <class P>
  word put_back(P& p, word n, word name = 0) {
    if constexpr (requires { M::before_release(p, W, L::E); }) M::before_release(p, W, L::E);
    const word old = W.fetch_add(p, static_cast<word>(L::handing_back(n) + name));
    for (word i = 0; i < std::min(n, L::queued(old)); ++i)
      noted<M>(p, event::admission, L::wrapped(static_cast<word>(L::E(old) + i)));
    return old;
  }
  /// After W went from `old` to n more permits: a waiter was queued, or others are inside. Touches nothing of this
  /// object.
  [[gnu::noinline, gnu::flatten]] bool finish_release(Caller caller, word old, word n, word one_out) {
    auto&& p = process_of<M>(caller, key());
    if (L::queued(old) > 0) {
      visit_room(p, n);
      return true;
    }
    if (static_cast<word>(L::C(old) + L::permits_of(one_out)) < static_cast<word>(L::bias + n)) return false;
    if constexpr (requires { p.backoff_after_release(L::E(old)); }) p.backoff_after_release(L::E(old));
    return true;
  }
  void visit_room(Process& p, [[maybe_unused]] word admitted) {
    if constexpr (detail::RoomMachine<M>)
      detail::bucket_protocol<M>::visit(p, M::bucket_of(p, *this), self(), admitted);
  }

  template <class Expired>
  [[gnu::noinline]] bool acquire_drawn(Caller caller, word old, word w, Expired expired) {
    auto&& p = process_of<M>(caller, key());
    Private mine;
    return enter_drawn(p, mine, old, w) || self().wait(p, mine, expired);
  }
  /// The tickets drawn do not admit at once. If no other is queued they are handed back, and the process spins
  /// first.
  bool enter_drawn(Process& p, Private& mine, word old, word w) {
    note_tickets(p, mine, old, w);
    if (w == 1 && L::queued(old) == 0 && W.compare_and_swap(p["1u"], static_cast<word>(old + 1), old)) {
      noted<M>(p, event::no_arrival);
      return enter_spinning(p, mine, 1);
    }
    p.doorway_end();
    return false;
  }
  bool enter_spinning(Process& p, Private& mine, word w) {
    mine.w = w;
    if (w == 1 && spin_before_queueing(p)) {
      p.doorway_end();
      return true;
    }
    if constexpr (barging) self().note_stamp(p, mine);
    const word old = W.fetch_add(p["1v"], w);
    p.doorway_end();
    if (L::had_free(old, w)) return true;
    note_tickets(p, mine, old, w);
    return false;
  }
  void note_tickets(Process& p, Private& mine, word old, word w) {
    mine.w = w;
    mine.last = L::wrapped(static_cast<word>(L::next_ticket(old) + w - 1));
    mine.ahead = L::ahead(old, mine.last);
    noted<M>(p, event::arrival, mine.last);
  }

  /// Tries for a permit a while before it draws a ticket: a thread that runs can use one at once. Gives way when enough
  /// have left meanwhile, and where none may be overtaken, when one is queued.
  [[gnu::noinline]] bool spin_before_queueing(Process& p) {
    word seen = 0;
    if (take_any(p, seen)) return true;
    const word first = L::E(seen);
    spinner<M> spin(p);
    for (int gap = 4; spin.again(gap); gap = std::min(2 * gap, 64)) {  // every look takes the word away from its user
      if (take_any(p, seen)) return spin.won();
      if (L::queued(seen) > 0 && !may_pass_queue(p, seen)) break;
      if (L::wrapped(static_cast<word>(L::E(seen) - first)) > passages_max()) break;
    }
    return false;
  }
  /// How many may leave before a spinning process draws its ticket.
  static constexpr word passages_max() {
    if constexpr (barging) return Barging::spin_passages_max;
    return std::min<word>(64, L::ticket_mask / 4);
  }
  bool may_pass_queue([[maybe_unused]] Process& p, [[maybe_unused]] word seen) {
    if constexpr (barging) return self().may_barge(p, seen);
    return false;
  }
  /// Takes a permit if there is one; `seen` is W as it was.
  bool take_any(Process& p, word& seen) {
    if constexpr (barging) {
      if (self().take_bargeable_if_any(p)) return true;
    }
    seen = W.read(p["32"]);
    return L::had_free(seen, 1) && W.compare_and_swap(p["33"], seen, static_cast<word>(seen + 1));
  }

  template <class Bucket>
  bool first_is_admitted(Process& p, Bucket& b, word seen) {
    const entry front = b.front(p["13f"], *this);
    return front.exists && !L::waits(seen, front.last);
  }

  template <class Expired>
  bool wait_registered(Process& p, Private& mine, Expired& expired) {
    if (!L::waits(watch<M>(p["2"], W, admits(mine.last), standing_of(mine.last)), mine.last)) return true;
    if constexpr (!detail::RoomMachine<M>) {
      W.await(p["2w"], admits(mine.last));
      return true;
    } else {
      typename M::Waiter me(p, self());
      auto& b = M::bucket_of(p, *this);
      if (!register_waiter(p, b, me, mine)) return true;
      if (!sleep_until_served(p, b, me, mine, expired)) return false;
      if constexpr (requires { p.waited(mine.last, mine.ahead); }) p.waited(mine.last, mine.ahead);
      return true;
    }
  }

  /// False if it is admitted and need not wait.
  template <class Bucket, class Waiter>
  bool register_waiter(Process& p, Bucket& b, Waiter& me, const Private& mine) {
    using protocol = detail::bucket_protocol<M>;
    typename M::Taken taken;
    protocol::lock(p, b);
    b.announce(p["3"]);  // R1
    offer_bargeable(p, b, taken);
    const bool waits = L::waits(W.read(p["4"]), mine.last);
    if (waits) {
      waiter_state state = waiter_state::waiting;
      if constexpr (barging) state = self().state_to_wait_in(p, mine);
      insert(p["5"], b, me, mine, state, false);
    } else {
      b.retract(p["5c"]);
    }
    protocol::open(p, b, self(), taken);
    return waits;
  }

  template <class Bucket, class Waiter>
  void insert(Process& p, Bucket& b, Waiter& me, const Private& mine, waiter_state state, bool suspended) {
    const word first = L::wrapped(static_cast<word>(mine.last + 1 - mine.w));
    b.insert(p, *this, me, entry{first, mine.last, mine.w, mine.stamp, state, suspended, true, nullptr});
  }
  /// Before a waiter is registered: bargeable permits go to those queued.
  template <class Bucket, class Taken>
  void offer_bargeable([[maybe_unused]] Process& p, [[maybe_unused]] Bucket& b, [[maybe_unused]] Taken& taken) {
    if constexpr (barging) {
      bool any = false;
      while (self().hand_back_bargeable(p)) any = true;  // all (B2): one alone does not admit a request for several
      if (any) serve(p, b, taken);
    }
  }

  template <class Bucket, class Waiter, class Expired>
  bool sleep_until_served(Process& p, Bucket& b, Waiter& me, Private& mine, Expired& expired) {
    using namespace detail::waiter_word;
    for (;;) {
      p.live(mine.last, mine.w, mine.stamp, mine.gives_up, mine.counted);
      std::uint32_t seen = me.read(p["6"]);
      if ((seen & woken) != 0) return true;
      if ((seen & interrupted) != 0) {
        me.clear(p["6i"], interrupted);
        seen = me.read(p["6r"]);  // it may have been admitted meanwhile
        if ((seen & woken) != 0) return true;
      }
      if (expired()) {
        mine.gives_up = give_up(p, b, me);
        if (mine.gives_up == giving_up::done) return false;
        if (mine.gives_up == giving_up::admitted) {
          me.await_woken(p["6w"]);
          return true;
        }
        p.pause();
        continue;
      }
      if constexpr (barging) {
        if ((seen & may_barge) != 0) {
          if (self().spin_after_wake(p, b, me)) return true;
          continue;
        }
      }
      M::sleep(p["6s"], me, seen);
    }
  }

  template <class Bucket, class Waiter>
  [[gnu::noinline]] giving_up give_up(Process& p, Bucket& b, Waiter& me, bool only_suspended = false) {
    using protocol = detail::bucket_protocol<M>;
    typename M::Taken taken;
    protocol::lock(p, b);
    const entry at = b.find(p["15"], *this, me);
    const bool may = at.exists && (at.suspended || !only_suspended);
    const giving_up how = may ? give_up_locked(p, b, me, at, taken) : giving_up::admitted;
    protocol::open(p, b, self(), taken);
    return how;
  }
  /// True: given up. False: too late.
  template <class Bucket, class Waiter>
  [[gnu::noinline]] bool give_up_at_last(Process& p, Bucket& b, Waiter& me, bool only_suspended) {
    for (;;) {
      p.live();
      const giving_up how = give_up(p, b, me, only_suspended);
      if (how != giving_up::not_yet) return how == giving_up::done;
      p.pause();
    }
  }
  /// Under the lock, where `me` is in the queue as `at`.
  template <class Bucket, class Waiter, class Taken>
  giving_up give_up_locked(Process& p, Bucket& b, Waiter& me, const entry& at, Taken& taken) {
    for (;;) {
      const word seen = W.read(p["16"]);
      if (!L::waits(seen, at.last)) {
        serve(p, b, taken);
        return giving_up::admitted;
      }
      const word count = tickets_of(at);
      if (L::at_front(seen, at.first)) {
        b.remove(p["21"], me);
        put_back(p["17"], count);
        serve(p, b, taken);
        return giving_up::done;
      }
      if (L::next_ticket(seen) == L::wrapped(static_cast<word>(at.last + 1))) {  // last waiter: hand the tickets back
        if (!W.compare_and_swap(p["18"], seen, static_cast<word>(seen - count))) continue;
        b.remove(p["21"], me);
        return giving_up::done;
      }
      return b.leave_to_successor(p["19"], *this, me) ? giving_up::done : giving_up::not_yet;
    }
  }

  WordVar W;
};

/// What the catalogue lists: FIFO, with a word that every machine can wait for.
template <class M>
using kgate_fifo = ticket_queue<M>;

}  // namespace kgate
