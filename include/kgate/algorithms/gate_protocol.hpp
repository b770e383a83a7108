// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The protocol of gates shared by processes: FIFO k-exclusion that survives the death of anybody at any instruction.
///
/// Source       ours; helping as in Herlihy's universal construction, records of intent as in recoverable mutual
///              exclusion.
/// Promises     k-exclusion; FIFO, or (b > 0) at most b newcomers pass the queue between two who are let in from it;
///              any number of members may be killed, one after the other, at any instruction, and no permit and no
///              place is lost; a waiter that has come to the head and asks for more than k is refused, and so blocks
///              nobody; a stopped member is waited for only in its place in the queue and in its permits, never inside
///              an operation (lock-free). Uncontended: one compare-and-swap to enter, one to leave.
/// Variables    W          word.hpp: free permits, whether somebody waits, the last operation and its subject
///              state[i]   where member i is; initially out
///              order[i]   i's place in the queue while state[i] is waits; written by i alone
///              K          the size, whether the gate is paused (no permits, the size stays), and which resize set it
///              slot[j]    who has slot j
///              passed     how many newcomers passed the queue since the last grant; only if b > 0
///              alive(i)   a lock that i holds and the kernel releases when i dies; once it is false for a passage it
///                         stays false for that passage
/// Invariants   G1  Every change of the abstract state (who is inside, who waits in what order, k) is one change of W.
///              G2  When W changes, the effect of the operation in it (word.hpp: effect) has been applied to its
///                  subject's state. So state[] lags W by at most that one operation, which W itself names.
///              G3  W.free + the sum of the weights of those inside = K, counting the effect of W's operation as
///                  applied; a paused gate counts as K = 0.
///              G4  W.waiting <=> some state[i] is waits, counted in the same way.
///              G5  state[i] changes only by effects of operations on i, except that i itself, while out and after the
///                  effect of its last operation has been applied, announces the weight or size it is going to ask for.
///              G6  slot[j] is taken only as long as its owner is inside in the passage it names: leaving frees it, in
///                  the same step. So a free one exists whenever somebody inside looks for one.
///              G7  While W is a resize, what its subject announced is the new size until K names that resize, and
///                  nothing afterwards: W may name the resize long after its effect, and by then the subject may have
///                  announced something else (G5). So K is changed once for each resize, by comparing its seq, never
///                  its value.
///              G8  A member knows its own state without reading it: it passes it to its operations, and reads state[i]
///                  only to learn that it was granted or refused while it was queued.
/// Why each instruction is a safe place to die
///              A member writes three things: its own order and weight while it is out (they mean nothing until W says
///              it has queued or entered), W by compare-and-swap (whole or not at all, G1), and effects of the
///              operation that W shows (idempotent, and anybody who wants to change W applies them first, G2). So at
///              every instruction the abstract state is that of W with its one effect applied, and a dead member is
///              out, queued or inside in it, exactly. heal() then leaves or abandons for it, by the same kind of
///              compare-and-swap. What a death can interrupt besides is a grant or a wake-up that was due; advance() is
///              repeated by every leaver and, at intervals, by those who wait.
/// Why a healer cannot be wrong
///              It reads W, finds i inside or queued, finds alive(i) false, and changes W from the value read. If that
///              succeeds nothing changed in between, so i is still in the passage it was found dead in: whoever takes
///              over i's number must first heal i, which changes W. A successor process that takes over i's lock (the
///              command of a wrapper) changes W too (touch), so either it is seen alive or it learns that it came too
///              late.
/// Deviations   none
/// Memory model sequential consistency for W, state, K and slot. A member's own effect of enter and leave is a release
///              store: only helpers write the same value meanwhile, and its partner is the acquire side of their reads.
/// Evidence     tests/gate/lab (all scripts of its operations, with deaths), tests/gate/faults (a real process killed
///              at each instruction)
///
/// Cells is what the protocol runs on; each of its functions is one atomic step:
///   word() cas_word(word, word) state_of(i) cas_state(i, state, state) set_state(i, state) order_of(i)
///   set_order(i, u64) size() cas_size(limit, limit) slot(j) cas_slot(j, owner, owner) passed()
///   cas_passed(overtaken, overtaken)
///   overtakings()   b; never changes
///   members()       all member numbers in use are below this; it only grows
///   alive(i)        the kernel's word on it
///   grantable(i)    false only if i is dead; may say true for a dead member (it will be healed later)
///   wake(i)         i's state has just become in
///   nudge(i)        i is the head of the queue, and may find a free permit (b > 0)
///   healed(i)       i's passage was completed for it
///   live(n, a, b), call(f)   no steps: what still matters of the caller's variables at the place n, and a call of
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

  /// Member i, whose state is `mine` and out, asks for mine.weight() permits: it enters, or is queued, or (if it must
  /// not queue) is refused. If it entered, `became` is what it made of W.
  outcome request(unsigned i, state mine, bool may_queue, word& became) {
    const int weight = mine.weight();
    c.set_state(i, mine);  // G5
    for (;;) {
      c.live(1, mine.bits, may_queue);
      const word w = load_and_help();
      if (w.operation() == op::retired) return outcome::retired;
      if (has_room(w, weight)) {
        const word desired = w.next(op::enter, i, w.free() - weight, w.waiting());
        if (!c.cas_word(w, desired)) continue;
        if (counts(desired)) help(desired);
        c.set_state(i, mine.at(kind::in));
        became = desired;
        return outcome::entered;
      }
      if (!may_queue) return outcome::refused;
      c.set_order(i, queue().last + 1);
      const word desired = w.next(op::enqueue, i, w.free(), true);
      if (!c.cas_word(w, desired)) continue;
      help(desired);
      return outcome::queued;
    }
  }

  /// Member i, whose state is `mine` and in, leaves and so gives back its slots; `became` is what it made of W. If
  /// somebody waits, hand_over() is next.
  void leave(unsigned i, state mine, word& became) {
    for (;;) {
      c.live(2, mine.bits);
      const word w = load_and_help();
      if (w.operation() == op::retired) {
        c.set_state(i, mine.next_passage());
        became = w;
        return;
      }
      const word desired = w.next(op::leave, i, w.free() + mine.weight(), w.waiting());
      if (!c.cas_word(w, desired)) continue;
      c.set_state(i, mine.next_passage());
      became = desired;
      return;
    }
  }

  /// Queued member i gives up. Answers entered if it had been granted already, refused if it is out now.
  outcome abandon(unsigned i) {
    for (;;) {
      c.live(3);
      const word w = load_and_help();
      const state mine = c.state_of(i);
      if (mine.where() == kind::in) return outcome::entered;
      if (mine.where() == kind::out) return outcome::refused;
      if (w.operation() == op::retired) {
        c.set_state(i, mine.next_passage());
        return outcome::retired;
      }
      if (remove_from_queue(w, i)) return outcome::refused;
    }
  }

  /// Grants those at the head of the queue for which there are permits, and refuses those that ask for more than k.
  /// Needed after every operation that frees permits, changes k or takes the head away; repeated by those who wait,
  /// since the one who should have called it may be dead.
  void advance() {
    for (;;) {
      c.live(4);
      const word w = load_and_help();
      if (!w.waiting() || w.operation() == op::retired) return;
      const line in_line = queue();
      if (in_line.count == 0) {
        if (c.word() == w) return;  // G4 is broken: the file was damaged; the check reports it
        continue;
      }
      const int weight = c.state_of(in_line.head).weight();
      if (!c.grantable(in_line.head)) {
        if (remove_from_queue(w, in_line.head)) c.healed(in_line.head);
        continue;
      }
      if (weight > c.size().slots()) {
        remove_from_queue(w, in_line.head);
        continue;
      }
      if (w.free() < weight) return;
      const word desired = w.next(op::grant, in_line.head, w.free() - weight, in_line.count > 1);
      if (c.cas_word(w, desired)) help(desired);
    }
  }

  /// After a leave that saw somebody wait: grants the head, or (b > 0), as long as not too many have passed it, leaves
  /// the permit to who is faster and nudges the head, at the first overtaking and at every 32nd: the head looks by
  /// itself as well.
  void hand_over() {
    if (!may_pass()) return advance();
    if (c.passed().count() % 32 != 0) return;
    const line in_line = queue();
    if (in_line.count > 0) c.nudge(in_line.head);
  }

  /// Completes the passage of member i if it is dead. True if there was something to complete.
  bool heal(unsigned i) {
    return c.call([&] { return heal_once(i); });
  }

  /// For queued member i: applies what is pending and heals the dead it depends on, which is the one before it or, if
  /// it is the head, those inside; then grants what can be granted. How many wait before it.
  int heal_predecessors(unsigned i) {
    for (;;) {
      c.live(5);
      load_and_help();
      if (c.state_of(i).where() != kind::waits) return 0;
      const predecessor ahead = c.call([&] { return find_predecessor(i); });
      if (ahead.position > 0) {
        if (heal(ahead.member)) continue;
        return ahead.position;
      }
      for (unsigned j = 0, n = c.members(); j < n; ++j) {
        c.live(6, j);
        if (c.state_of(j).where() == kind::in) heal(j);
      }
      c.call([&] { advance(); });
      return 0;
    }
  }

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
      return false;
    }
    mine = there.at(kind::out);
    return true;
  }

  /// Member i, whose state is `mine` and out, sets K to mine.weight(): the size, and whether the gate is paused. Those
  /// inside stay; nobody enters until there is room under the new size. advance() is next.
  outcome resize(unsigned i, state mine) {
    c.set_state(i, mine);  // G5
    for (;;) {
      c.live(7, mine.bits);
      const word w = load_and_help();
      if (w.operation() == op::retired) return outcome::retired;
      const int difference = limit::of(mine.weight(), 0).permits() - c.size().permits();
      const word desired = w.next(op::resize, i, w.free() + difference, w.waiting());
      if (!c.cas_word(w, desired)) continue;
      help(desired);
      return outcome::entered;
    }
  }

  /// Ends the gate: no operation succeeds any more. Refused while somebody is inside or waits, unless forced.
  bool retire(bool forced) {
    for (;;) {
      c.live(8, forced);
      const word w = load_and_help();
      if (w.operation() == op::retired) return true;
      if (!forced && (w.waiting() || w.free() != c.size().permits())) return false;
      if (c.cas_word(w, w.next(op::retired, 0, w.free(), w.waiting()))) return true;
    }
  }

  /// Ends the passage of member i for it, if it is still in the state `theirs`, queued or inside: it gives up or
  /// leaves. advance() is next. False if i is in another state by now.
  bool dismiss(unsigned i, state theirs) {
    for (;;) {
      c.live(12, theirs.bits);
      const word w = load_and_help();
      if (w.operation() == op::retired || theirs.where() == kind::out || c.state_of(i) != theirs) return false;
      if (complete(w, i, theirs)) return true;
    }
  }

  /// Says that member i, which is inside in passage `theirs`, is alive though it was not for a moment. False if it was
  /// healed.
  bool touch(unsigned i, state theirs) {
    for (;;) {
      c.live(9, theirs.bits);
      const word w = load_and_help();
      if (w.operation() == op::retired || c.state_of(i) != theirs) return false;
      if (c.cas_word(w, w.next(op::none, i, w.free(), w.waiting()))) return true;
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

  /// How many wait before member i.
  int position(unsigned i) {
    const std::uint64_t mine = c.order_of(i);
    int before = 0;
    for (unsigned j = 0, n = c.members(); j < n; ++j)
      if (j != i && c.state_of(j).where() == kind::waits && c.order_of(j) < mine) ++before;
    return before;
  }

  /// Whether W lets a newcomer in who asks for `weight` permits. Right if W does not change meanwhile.
  bool has_room(word w, int weight) { return w.free() >= weight && (!w.waiting() || may_pass()); }

  /// The word with its effect applied, ready to be changed.
  word load_and_help() {
    const word w = c.word();
    help(w);
    return w;
  }

 private:
  void apply(word w) {
    const unsigned i = w.subject();
    if (i >= c.members()) return;
    if (w.operation() == op::resize) return help_resize(w, i);
    if (counts(w)) help_count(w);
    const state before = c.state_of(i);
    const state after = effect(w.operation(), before);
    if (after == before) return;
    if (c.word() != w) return;  // `before` may belong to a later operation
    if (c.cas_state(i, before, after) && (w.operation() == op::grant || w.operation() == op::abandon)) c.wake(i);
  }

  bool heal_once(unsigned i) {
    for (;;) {
      c.live(11);
      const word w = load_and_help();
      if (w.operation() == op::retired) return false;
      const state theirs = c.state_of(i);
      if (theirs.where() == kind::out || c.alive(i)) return false;
      if (!complete(w, i, theirs)) continue;
      c.healed(i);
      return true;
    }
  }

  /// Member i, whose state is `theirs`, gives up or leaves. False if W is no longer `w`.
  bool complete(word w, unsigned i, state theirs) {
    if (theirs.where() == kind::waits) return remove_from_queue(w, i);
    const word desired = w.next(op::leave, i, w.free() + theirs.weight(), w.waiting());
    if (!c.cas_word(w, desired)) return false;
    help(desired);
    return true;
  }

  struct line {
    unsigned head = 0;
    int count = 0;
    std::uint64_t first = 0;
    std::uint64_t last = 0;
  };

  struct predecessor {
    int position = 0;  ///< how many wait before a member
    unsigned member = 0;
  };
  predecessor find_predecessor(unsigned i) {
    const std::uint64_t mine = c.order_of(i);
    predecessor found;
    std::uint64_t nearest = 0;
    for (unsigned j = 0, n = c.members(); j < n; ++j) {
      if (j == i || c.state_of(j).where() != kind::waits) continue;
      const std::uint64_t order = c.order_of(j);
      if (order >= mine) continue;
      if (found.position++ == 0 || order > nearest) {
        nearest = order;
        found.member = j;
      }
    }
    return found;
  }

  /// Those who wait. Right if W does not change meanwhile, which the caller's compare-and-swap finds out.
  line queue() {
    return c.call([&] { return find_queue(); });
  }
  line find_queue() {
    line found;
    for (unsigned j = 0, n = c.members(); j < n; ++j) {
      if (c.state_of(j).where() != kind::waits) continue;
      const std::uint64_t order = c.order_of(j);
      if (found.count == 0 || order < found.first) {
        found.head = j;
        found.first = order;
      }
      if (order > found.last) found.last = order;
      ++found.count;
    }
    return found;
  }

  /// Whether a newcomer may enter though somebody waits. Right if W does not change meanwhile.
  bool may_pass() { return c.overtakings() > 0 && c.passed().count() < c.overtakings(); }

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
    const line in_line = queue();
    const word desired = w.next(op::abandon, i, w.free(), in_line.count > 1);
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
