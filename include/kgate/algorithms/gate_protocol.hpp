// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The protocol of gates shared by processes: FIFO k-exclusion that survives the death of any at any instruction.
///
/// Source       ours; helping as in Herlihy's universal construction, records of intent as in recoverable mutual
///              exclusion.
/// Promises     k-exclusion; FIFO, or (b > 0) at most b newcomers pass the queue between two grants from it;
///              any number of members may be killed, one after the other, at any instruction; no permit, no position
///              and no wake-up is lost; a waiter that has come to the head and asks for more than k is refused, and so
///              blocks none; a stopped member is waited for only in its queue position, in its permits and in a
///              wake-up that it is about to give, never inside an operation (lock-free). Uncontended: one
///              compare-and-swap to enter, one to leave. Queueing, granting and giving up take a constant number of
///              steps, however many wait. None polls: a waiter sleeps until it is woken or one that it watches dies.
/// Variables    W          gate_word.hpp: free permits, whether one waits, the last operation and its subject
///              state[i]   where member i is; initially out
///              Q          the first and the last of the queue
///              L[i]       i's neighbours in the queue while it is there
///              K          the size, whether the gate is paused (no permits, the size stays), and which resize set it
///              slot[j]    the holder of slot j
///              C          how many calls there were, and how many of the last ones may be pending
///              passed     how many newcomers passed the queue since the last grant; only if b > 0
///              bell[i]    what i sleeps on: it listens for alerts, it is asleep, it was rung. Only i clears it: a
///                         ringer may die before the system call that wakes i, so the next one must make it again
///              woken      the seq of the last operation for which the wake-up has been given: others need not
///              alive(i)   a lock that i holds and the kernel releases when i dies; once it is false for a passage it
///                         stays false for that passage
/// Invariants   G1  Every change of the abstract state (those inside, the queue in its order, k) is one change of W.
///              G2  When W changes, the effects of the operation in it have been applied: gate_word.hpp: effect to its
///                  subject's state, relink() to the queue. So both lag W by at most that one operation, which W itself
///                  names.
///              G3  W.free + the sum of the weights of those inside = K, counting the effect of W's operation as
///                  applied; a paused gate counts as K = 0.
///              G4  W.waiting <=> some state[i] is waits <=> Q is not empty, counted in the same way.
///              G5  state[i] changes only by effects of operations on i, except that i itself, while out and after the
///                  effect of its last operation has been applied, announces the weight or size it is going to ask for.
///              G6  slot[j] is taken only as long as its owner is inside in the passage it names: leaving frees it, in
///                  the same step. So a free one exists whenever one inside looks for one.
///              G7  While W is a resize, what its subject announced is the new size until K names that resize, and
///                  nothing afterwards: W may name the resize long after its effect, and by then the subject may have
///                  announced something else (G5). So K is changed once for each resize, by comparing its seq, never
///                  its value.
///              G8  A member knows its own state without reading it: it passes it to its operations, and reads state[i]
///                  only to learn that it was granted or refused while it was queued.
///              G9  Q and L[] hold the seq of the operation that wrote them last. An operation writes Q last: as long
///                  as Q does not have W's seq, Q is what the operation starts from, and L of its subject is too unless
///                  the operation is what puts it there.
///              G10 While i sleeps in wait(), each of those it depends on is watched by i, or will ring i's bell and is
///                  itself watched by i until then. It depends on the one before it or, as the head, on those inside
///                  and those that act. The one before i rings it when it leaves the queue: a granted, refused or
///                  dismissed one once it has learnt of it, one that gives up before it grants anything. None gets
///                  inside past a
///                  head that sleeps in wait(): it has closed the gate (b > 0).
///              G12 state[i] is calls from when i calls until W has let it in or queued it. Of the callers that called
///                  before C was last read as not pending none calls any more. So short paths and attempts, which
///                  look at C first, pass a caller at most once each, in flight; one that calls when T calls are
///                  pending queues all callers before it does anything else, so at most T later callers pass one.
/// Why a member may die at each instruction
///              A member writes four things: its own weight while it is out (it means nothing until W says it has
///              queued or entered), W by compare-and-swap (whole or not at all, G1), effects of the operation that W
///              shows (idempotent, and any that is to change W applies them first, G2), and bells. So at every
///              instruction the abstract state is that of W with its one effect applied, and a dead member is out,
///              queued or inside in it, exactly. heal() then leaves or abandons for it, by the same kind of
///              compare-and-swap. What a death can interrupt besides is a grant or a wake-up that was due. One that
///              applies a grant that W names wakes its subject, even if the effect was there already, so a wake-up is
///              due only as long as W names the grant; and the one that died was inside, acted, or was before the
///              sleeper in the queue, so the sleeper watches it (G10) and grants for itself. One that frees permits in
///              no such position (resize) announces that it acts, and alerts the head, before it changes W.
/// Why a healer cannot be wrong
///              It reads W, finds i inside or queued, finds alive(i) false, and changes W from the value read. If that
///              succeeds nothing changed in between, so i is still in the passage it was found dead in: one that takes
///              over i's number must first heal i, which changes W. A successor process that takes over i's lock (the
///              command of a wrapper) changes W too (touch), so either it is seen alive or it learns that it came too
///              late.
/// Deviations   none
/// Memory model sequential consistency for W, state, Q, L, K, slot and bell. A member's own effect of enter and
///              leave is
///              a release store: only helpers write the same value meanwhile, and its partner is the acquire side of
///              their reads.
/// Evidence     tests/gate/lab (all scripts of its operations, with deaths), tests/gate/faults (a real process killed
///              at each instruction)
///
/// [[gnu::hot]] marks what a passage with a wait runs through: it then stands together in a program, on few pages.
///
/// Cells is what the protocol runs on; each of its functions is one atomic step:
///   word() cas_word(word, word) state_of(i) cas_state(i, state, state) set_state(i, state) queue()
///   cas_queue(link, link) link_of(i) cas_link(i, link, link) size() cas_size(limit, limit) slot(j)
///   cas_slot(j, owner, owner) passed() cas_passed(overtaken, overtaken) calls() cas_calls(count, count)
///   add_call()      adds one to both numbers of C, and says what they are then
///   calls_most()    T; 0 if calls are not counted (and any may pass a caller): for explorations of something else
///   overtakings()   b
///   members()       all member numbers in use are below this; it only grows
///   alive(i)        the kernel's word on it
///   grantable(i)    false only if i is dead; may say true for a dead member (it will be healed later)
///   woken() set_woken(seq)   the variable
///   is_asleep(i)    what i's bell says
///   ring(i)         rings i's bell, and wakes i if it was asleep (not one step: the bell, then the kernel)
///   alert(i)        rings i's bell if i listens or is asleep in wait()
///   listen(i)       i is about to check: an alert from here on keeps it from sleeping
///   fall_asleep(i)  false if i was rung since it listens
///   sleep(i, set)   until i is rung, or a process of the set dies; false if i is to give up
///   healed(i)       i's passage was completed for it
///   watch(set, j)   adds the process that is member j now
///   retries         no step: again() says that a loop goes round, because W or the queue changed meanwhile. After more
///                   rounds than all members together could cause it throws: a process scribbles on the file
///   live(n, a, b), call(f)   no steps: what still matters of the caller's variables at the point n, and a call of
///                   which only the result does (rule 5 of detail/machine.hpp); the mapped file's do nothing

#include <cstdint>

#include "kgate/algorithms/gate_word.hpp"

namespace kgate::detail::gates {

template <class Cells>
class protocol {
 public:
  explicit protocol(Cells& cells) : c(cells) {}

  /// Applies the effect of the operation in `w`, so that W may be changed (G2).
  void help(word w) {
    c.call([&] { apply(w); });
  }

  /// Member i, whose state is `mine` and out, calls for mine.weight() permits; request() is next. From here on its
  /// position counts (G12). The number of the call.
  [[gnu::hot]] std::uint32_t call(unsigned i, state mine) {
    c.set_state(i, mine.at(kind::calls));  // G5
    return c.call([&] { return count_call(i); });
  }

  /// Member i, whose state is `mine` when it is out and which has called, enters or is queued, by itself or by another.
  /// If it entered by itself, `became` is what it made of W.
  [[gnu::hot]] outcome request(unsigned i, state mine, std::uint32_t number, word& became) {
    for (typename Cells::retries tries;; tries.again()) {
      c.live(1, mine.bits, number);
      const word w = load_and_help();
      if (w.operation() == op::retired) {
        c.set_state(i, mine);
        return outcome::retired;
      }
      if (c.state_of(i).where() != kind::calls) {
        served(number);
        return outcome::queued;
      }
      const bool room = has_room(w, mine.weight());
      if (!(room ? let_in(i, mine, w, became) : queue_up(w, i))) continue;
      served(number);
      return room ? outcome::entered : outcome::queued;
    }
  }

  /// The same without queueing, and then it does not pass the queue either, or refused.
  outcome attempt(unsigned i, state mine, word& became) {
    c.set_state(i, mine);  // G5
    std::uint32_t number = 0;
    bool counted = false;
    for (typename Cells::retries tries;; tries.again()) {
      c.live(15, mine.bits, number, counted);
      const word w = load_and_help();
      if (w.operation() == op::retired) return outcome::retired;
      if (w.waiting() || w.free() < mine.weight()) {
        served(number);
        return outcome::refused;
      }
      if (!counted) {
        counted = true;
        if (c.calls_most() == 0 || c.calls().pending() == 0) continue;
        number = c.call([&] { return count_call(i); });
        continue;
      }
      if (!let_in(i, mine, w, became)) continue;
      served(number);
      return outcome::entered;
    }
  }

  /// Member i, whose state is `mine` and in, leaves and so gives back its slots; `became` is what it made of W. If
  /// one waits, hand_over() is next.
  [[gnu::hot]] void leave(unsigned i, state mine, word& became) {
    for (typename Cells::retries tries;; tries.again()) {
      c.live(2, mine.bits);
      const word w = load_and_help();
      if (w.operation() == op::retired) {
        c.set_state(i, mine.next_passage());
        if (w.waiting()) alert(c.queue().before());  // those that wait for this one find out
        became = w;
        return;
      }
      const word desired = w.next(op::leave, i, w.free() + mine.weight(), w.waiting(), w.closed());
      if (!c.cas_word(w, desired)) continue;
      c.set_state(i, mine.next_passage());
      became = desired;
      return;
    }
  }

  /// Queued member i gives up. Answers entered if it had been granted already, refused if it is out now.
  outcome abandon(unsigned i) {
    for (typename Cells::retries tries;; tries.again()) {
      c.live(3);
      const word w = load_and_help();
      const state mine = c.state_of(i);
      if (mine.where() != kind::waits) {
        alert_behind(i);
        return mine.where() == kind::in ? outcome::entered : outcome::refused;
      }
      const unsigned behind = c.link_of(i).behind();
      if (w.operation() == op::retired) {
        c.set_state(i, mine.next_passage());
        alert(behind);
        return outcome::retired;
      }
      if (!remove_from_queue(w, i)) continue;
      alert(behind);  // G10: before it grants
      c.call([&] { advance(); });
      return outcome::refused;
    }
  }

  /// Grants those at the head of the queue for which there are permits, and refuses those that ask for more than k.
  /// Needed after every operation that frees permits, changes k or takes the head away.
  [[gnu::hot]] void advance() {
    for (typename Cells::retries tries;; tries.again()) {
      c.live(4);
      const word w = load_and_help();
      if (!w.waiting() || w.operation() == op::retired) return;
      const link ends = c.queue();
      const unsigned head = ends.before();
      const state first = head < c.members() ? c.state_of(head) : state{};
      if (first.where() != kind::waits) {
        if (c.word() == w) return;  // G4 is broken: the file was damaged; the check reports it
        continue;
      }
      if (!c.grantable(head)) {
        if (remove_from_queue(w, head)) c.healed(head);
        continue;
      }
      if (first.weight() > c.size().slots()) {
        remove_from_queue(w, head);
        continue;
      }
      if (w.free() < first.weight()) return;
      const word desired = w.next(op::grant, head, w.free() - first.weight(), ends.behind() != head);
      if (c.cas_word(w, desired)) help(desired);
    }
  }

  /// After a leave that made W `left` and saw one wait: grants the head, or (b > 0), as long as not too many have
  /// passed it, makes the permit bargeable and wakes the head.
  [[gnu::hot]] void hand_over(word left) {
    if (left.closed() || !may_pass(left)) return advance();
    const unsigned head = c.queue().before();
    if (head < c.members()) wake(head, left);
  }

  /// Completes the passage of member i if it is dead. True if there was something to complete.
  bool heal(unsigned i) {
    return c.call([&] { return heal_once(i); });
  }

  /// Queued member i sleeps until it is granted or refused or the gate is retired: true; or until c.sleep() says
  /// that it is to give up: false, and abandon() is next.
  bool wait(unsigned i) {
    typename Cells::watch_set ahead{};
    while (falls_asleep(i, ahead))
      if (!c.sleep(i, ahead)) return false;
    alert_behind(i);
    return true;
  }

  /// What wait() does between two sleeps. True: queued member i is asleep; when its bell has rung or a process of
  /// `ahead` has died, this is next. False: it is no longer queued or the gate is retired, and alert_behind() is next.
  bool falls_asleep(unsigned i, typename Cells::watch_set& ahead) {
    for (typename Cells::retries tries;; tries.again()) {
      c.live(12);
      c.listen(i);
      ahead = c.call([&] { return check_ahead(i); });
      if (!waits(i)) return false;
      if (c.fall_asleep(i)) return waits(i);
    }
  }

  /// Member i is no longer queued, without having been in wait(): the one behind it has lost the one that it watched
  /// (G10).
  void alert_behind(unsigned i) { alert(c.link_of(i).behind()); }

  /// Takes number i for this process, having healed the dead member that had it; `mine` is then its state, out. False
  /// if a living one has it. locks.lock(i) takes the lock behind alive(i), or is false; locks.unlock(i) gives it back.
  template <class Locks>
  bool take_number(unsigned i, Locks& locks, state& mine) {
    // Healed without its lock: a process that is stopped in between must not make the dead look alive.
    if (c.state_of(i).where() != kind::out && !heal(i)) return false;
    if (!locks.lock(i)) return false;
    load_and_help();
    const state there = c.state_of(i);
    if (there.where() != kind::out) {
      locks.unlock(i);
      // With its lock taken the dead member looked alive to those that checked meanwhile.
      if (heal(i)) c.call([&] { advance(); });
      return false;
    }
    mine = there.at(kind::out);
    return true;
  }

  /// Member i, whose state is `mine` and out, sets K to mine.weight(): the size, and whether the gate is paused; and
  /// grants what that makes room for. It is then in the next passage. Those inside stay; no other enters until there
  /// is room under the new size.
  outcome resize(unsigned i, state mine) {
    c.set_state(i, mine.at(kind::acts));  // G5
    alert_head();                         // G10: it watches this member before there is anything to grant
    const outcome result = c.call([&] { return resize_announced(i, mine); });
    c.set_state(i, mine.next_passage());
    return result;
  }

  /// Ends the gate: no operation succeeds any more. Refused while one is inside or waits, unless forced.
  bool retire(bool forced) {
    for (typename Cells::retries tries;; tries.again()) {
      c.live(8, forced);
      const word w = load_and_help();
      if (w.operation() == op::retired) return true;
      if (!forced && (w.waiting() || w.free() != c.size().permits())) return false;
      if (c.cas_word(w, w.next(op::retired, 0, w.free(), w.waiting(), w.closed()))) return true;
    }
  }

  /// Ends the passage of member i for it, if it is still in the state `theirs`, queued or inside: it gives up or
  /// leaves. advance() is next. False if i is in another state by now.
  bool dismiss(unsigned i, state theirs) {
    for (typename Cells::retries tries;; tries.again()) {
      c.live(13, theirs.bits);
      const word w = load_and_help();
      if (w.operation() == op::retired || theirs.where() == kind::out || c.state_of(i) != theirs) return false;
      if (complete(w, i, theirs)) return true;
    }
  }

  /// The same of member j by member i, whose state is `mine` and out, with what that makes room for granted. Member i
  /// is then in the next passage.
  bool dismiss_by(unsigned i, state mine, unsigned j, state theirs) {
    c.set_state(i, mine.at(kind::acts));  // G5
    alert_head();                         // as in resize()
    const bool done = c.call([&] { return dismiss(j, theirs); });
    c.live(14, mine.bits, done);
    c.call([&] { advance(); });
    c.set_state(i, mine.next_passage());
    return done;
  }

  /// Says that member i, which is inside in passage `theirs`, is alive though it was not for a moment. False if it was
  /// healed.
  bool touch(unsigned i, state theirs) {
    for (typename Cells::retries tries;; tries.again()) {
      c.live(9, theirs.bits);
      const word w = load_and_help();
      if (w.operation() == op::retired || c.state_of(i) != theirs) return false;
      if (c.cas_word(w, w.next(op::none, i, w.free(), w.waiting(), w.closed()))) return true;
    }
  }

  /// A free slot below `capacity` for member i, whose state is `mine` and in; -1 if there is none, which only a damaged
  /// file or a smaller size can cause (G6).
  int take_slot(unsigned i, state mine, int capacity) {
    const slot_owner me = slot_owner::of(i, mine);
    for (int rounds = 0; rounds < 100; ++rounds) {
      c.live(10, mine.bits, capacity, rounds);
      load_and_help();
      for (int j = 0; j < capacity; ++j) {
        const slot_owner owner = c.slot(j);
        if (!holds(owner) && c.cas_slot(j, owner, me)) return j;
      }
    }
    return -1;
  }

  /// Whether the passage that took a slot goes on. Once it does not it never will, so a compare-and-swap from this
  /// owner is safe however late it comes.
  bool holds(slot_owner owner) {
    if (!owner.taken() || owner.member() >= c.members()) return false;
    const state theirs = c.state_of(owner.member());
    return theirs.where() == kind::in && slot_owner::of(owner.member(), theirs).bits == owner.bits;
  }

  /// How many wait before member i; right if the queue does not change meanwhile.
  int position(unsigned i) {
    int before = 0;
    const int members = static_cast<int>(c.members());
    for (unsigned j = c.queue().before(); j != i && j < c.members() && before < members; ++before)
      j = c.link_of(j).behind();
    return before;
  }

  /// Whether W lets a newcomer in that requests `weight` permits. Right if W does not change meanwhile.
  bool has_room(word w, int weight) { return w.free() >= weight && (!w.waiting() || (!w.closed() && may_pass(w))); }

  /// The word with its effect applied, ready to be changed.
  word load_and_help() {
    const word w = c.word();
    help(w);
    return w;
  }

 private:
  [[gnu::hot]] void apply(word w) {
    const unsigned i = w.subject();
    if (i >= c.members()) return;
    if (w.operation() == op::resize) return help_resize(w, i);
    if (counts(w)) help_count(w);
    if (moves_queue(w.operation())) relink(w, i);
    const state before = c.state_of(i);
    const state after = effect(w.operation(), before);
    if (after != before) {
      if (c.word() != w) return;  // `before` may belong to a later operation
      c.cas_state(i, before, after);
    }
    if (w.operation() == op::grant || w.operation() == op::abandon) wake(i, w);  // the one that applied it may be dead
  }

  /// Wakes the subject of operation `w`, unless one has done so, and lived long enough to say it.
  [[gnu::hot]] void wake(unsigned i, word w) {
    if (!c.is_asleep(i) || c.woken() == w.seq()) return;
    c.live(18, i, w.bits);
    c.ring(i);
    c.set_woken(w.seq());
  }

  /// Member i enters. False if W is no longer `w`.
  [[gnu::hot]] bool let_in(unsigned i, state mine, word w, word& became) {
    const word desired = w.next(op::enter, i, w.free() - mine.weight(), w.waiting(), w.closed());
    if (!c.cas_word(w, desired)) return false;
    if (counts(desired)) help(desired);
    c.set_state(i, mine.at(kind::in));
    became = desired;
    return true;
  }

  /// Member i, which calls, is queued. False if W is no longer `w`.
  bool queue_up(word w, unsigned i) {
    const word desired = w.next(op::enqueue, i, w.free(), true, w.closed());
    if (!c.cas_word(w, desired)) return false;
    help(desired);
    return true;
  }

  /// After so many it is a file that a process scribbles on; what is not done then is left to the next caller.
  static constexpr int tries_most = 1000;

  /// Counts a call, and queues all other callers if too many may have passed one of them (G12).
  std::uint32_t count_call(unsigned i) {
    if (c.calls_most() == 0) return 0;
    const call_count now = c.add_call();
    if (now.pending() >= c.calls_most()) queue_callers(i, now.calls());
    return now.calls();
  }

  void queue_callers(unsigned i, std::uint32_t number) {
    bool any = false;
    int tries = 0;
    for (unsigned j = 0, n = c.members(); j < n;) {
      c.live(16, i, number, j, any, tries);
      if (j == i || c.state_of(j).where() != kind::calls) {
        ++j;
        tries = 0;
        continue;
      }
      const word w = load_and_help();
      if (w.operation() == op::retired || ++tries > tries_most) return;
      any = true;
      if (c.state_of(j).where() == kind::calls) queue_up(w, j);
    }
    // All calls before this one are served; this one and later ones are pending.
    for (tries = 0; tries < tries_most; ++tries) {
      c.live(17, number, any, tries);
      const call_count before = c.calls();
      const std::uint32_t later = before.calls() - number + 1;
      if (before.pending() <= later || c.cas_calls(before, call_count::of(before.calls(), later))) break;
    }
    if (any) c.call([&] { advance(); });
  }

  /// The call with this number is no longer pending, if it is the only one.
  void served(std::uint32_t number) {
    if (number != 0) c.cas_calls(call_count::of(number, 1), call_count::of(number, 0));
  }

  static bool moves_queue(op what) { return what == op::enqueue || what == op::grant || what == op::abandon; }

  /// Appends i to the queue, or takes it out, as operation `w` says (G9).
  [[gnu::hot]] void relink(word w, unsigned i) {
    const link ends = c.queue();
    if (ends.seq() == w.seq()) return;
    unsigned first = ends.before(), last = ends.behind();
    if (w.operation() == op::enqueue) {
      set_link(w, i, [&](link) { return link::of(last, no_member, w.seq()); });
      set_link(w, last, [&](link its) { return link::of(its.before(), i, w.seq()); });
      if (first == no_member) first = i;
      last = i;
    } else {
      const link mine = c.link_of(i);
      set_link(w, mine.before(), [&](link its) { return link::of(its.before(), mine.behind(), w.seq()); });
      set_link(w, mine.behind(), [&](link its) { return link::of(mine.before(), its.behind(), w.seq()); });
      if (first == i) first = mine.behind();
      if (last == i) last = mine.before();
    }
    if (c.word() != w) return;  // what was read may belong to a later operation
    c.cas_queue(ends, link::of(first, last, w.seq()));
  }

  template <class Next>
  void set_link(word w, unsigned j, Next&& next) {
    if (j >= c.members()) return;
    const link before = c.link_of(j);
    if (before.seq() == w.seq() || c.word() != w) return;
    c.cas_link(j, before, next(before));
  }

  /// Heals the dead that queued member i depends on, grants what can be granted, and returns what it depends on (G10).
  typename Cells::watch_set check_ahead(unsigned i) {
    for (typename Cells::retries tries;; tries.again()) {
      c.live(5);
      typename Cells::watch_set ahead{};
      if (load_and_help().operation() == op::retired || c.state_of(i).where() != kind::waits) return ahead;
      const unsigned before = c.link_of(i).before();
      if (before < c.members()) {
        c.watch(ahead, before);
        // If it has left the queue the number may be another's by now, whose death is not the one to wait for.
        if (heal(before) || c.link_of(i).before() != before) continue;
        return ahead;
      }
      // Once more: the operation that made i the head may have been the last one, and its subject is inside only now.
      const word w = load_and_help();
      if (c.state_of(i).where() != kind::waits) continue;
      if (c.overtakings() > 0 && !w.closed()) {  // G10: from here on none gets inside unseen
        c.cas_word(w, w.next(op::none, i, w.free(), w.waiting(), true));
        continue;
      }
      for (unsigned j = 0, n = c.members(); j < n; ++j) {
        c.live(6, j, ahead);
        const kind where = c.state_of(j).where();
        if (where != kind::in && where != kind::acts) continue;
        c.watch(ahead, j);  // before the check whether j is alive: the owner of the number may change
        heal(j);
      }
      c.call([&] { advance(); });
      return ahead;
    }
  }

  bool waits(unsigned i) { return c.state_of(i).where() == kind::waits && c.word().operation() != op::retired; }

  void alert(unsigned i) {
    if (i < c.members()) c.alert(i);
  }
  void alert_head() {
    c.call([&] {
      if (load_and_help().waiting()) alert(c.queue().before());
    });
  }

  outcome resize_announced(unsigned i, state mine) {
    for (typename Cells::retries tries;; tries.again()) {
      c.live(7, mine.bits);
      const word w = load_and_help();
      if (w.operation() == op::retired) return outcome::retired;
      const int difference = limit::of(mine.weight(), 0).permits() - c.size().permits();
      const word desired = w.next(op::resize, i, w.free() + difference, w.waiting(), w.closed());
      if (!c.cas_word(w, desired)) continue;
      help(desired);
      c.call([&] { advance(); });
      return outcome::entered;
    }
  }

  bool heal_once(unsigned i) {
    for (typename Cells::retries tries;; tries.again()) {
      c.live(11);
      const word w = load_and_help();
      if (w.operation() == op::retired) return false;
      const state theirs = c.state_of(i);
      if (theirs.where() == kind::out || c.alive(i)) return false;
      if (theirs.where() > kind::calls) return false;  // no participant wrote that
      if (theirs.where() == kind::calls) {
        if (i >= c.members()) return false;  // none has that number yet: no participant wrote that
        queue_up(w, i);
        continue;
      }
      if (theirs.where() == kind::acts) {
        c.call([&] { advance(); });
        c.cas_state(i, theirs, theirs.next_passage());
        return true;
      }
      if (!complete(w, i, theirs)) continue;
      c.healed(i);
      return true;
    }
  }

  /// Member i, whose state is `theirs`, gives up or leaves. False if W is no longer `w`.
  bool complete(word w, unsigned i, state theirs) {
    if (theirs.where() == kind::waits) return remove_from_queue(w, i);
    const word desired = w.next(op::leave, i, w.free() + theirs.weight(), w.waiting(), w.closed());
    if (!c.cas_word(w, desired)) return false;
    help(desired);
    return true;
  }

  /// Whether a newcomer may enter though one waits: as long as not too many have, and only where the head could
  /// enter as well. Right if W does not change meanwhile.
  [[gnu::hot]] bool may_pass(word w) {
    if (c.overtakings() == 0 || c.passed().count() >= c.overtakings()) return false;
    const unsigned head = c.queue().before();
    return head < c.members() && c.state_of(head).weight() <= w.free();
  }

  /// Whether the operation is one that `passed` depends on.
  bool counts(word w) const {
    return c.overtakings() > 0 && ((w.operation() == op::enter && w.waiting()) || w.operation() == op::grant);
  }

  void help_count(word w) {
    const overtaken before = c.passed();
    if (before.seq() == w.seq() || c.word() != w) return;
    c.cas_passed(before, overtaken::of(w.operation() == op::grant ? 0 : before.count() + 1, w.seq()));
  }

  bool remove_from_queue(word w, unsigned i) {
    const link ends = c.queue();
    const bool first = ends.before() == i;
    const word desired = w.next(op::abandon, i, w.free(), !first || ends.behind() != i, w.closed() && !first);
    if (!c.cas_word(w, desired)) return false;
    help(desired);
    return true;
  }

  void help_resize(word w, unsigned i) {
    const limit before = c.size();
    if (!before.lacks(w)) return;
    const int slots = c.state_of(i).weight();
    if (c.word() != w) return;                      // `slots` may belong to a later operation
    c.cas_size(before, limit::of(slots, w.seq()));  // fails if the effect has been applied since `before` (G7)
  }

  Cells& c;
};

}  // namespace kgate::detail::gates
