// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Dozing: how a queued member of a gate waits before it watches others (protocol::wait of gate_protocol.hpp).
///
/// Source       ours; what members of kgate::gate and `kgate run` do first when they have to wait (src/gate/core.cpp)
/// Promises     none that the gate depends on: every doze ends after a while, and then protocol::wait is next, which
///              loses nothing. Without that time-out a member that dozes is woken by its grant; and where all inside
///              leave by ending, as commands after --exec do, the head is woken by the end of any of them, and each
///              next head in turn.
/// Variables    those of gate_protocol.hpp; ends[i]: member i, which is inside, will not leave, but end: its process
///              can be watched, and nothing else shows it
/// Invariants   D1  A member sets its bell to asleep before it looks whether it is granted, whether there is room, and
///                  whether those inside leave by ending. One that changes any of these checks the bell afterwards.
///              D2  The head that sleeps until one inside ends watches, for each of them, the process that is inside:
///                  it looks at their states again after it has begun to watch. One that was dead by then ends the
///                  sleep at once.
///              D3  The head looks at W once more after it has found out that it need not watch: one that takes over
///                  the number of one that has ended heals it, and grants nothing.
///              D4  A search for dead holders grants first what is due, for a head that is dead does not, and goes on
///                  until none is inside: a member granted after a dead holder may be dead, too, since
///                  none asks whether one that dozes is alive. Others that doze rely on it: they do not look.
/// Deviations   none
/// Memory model sequential consistency for ends, beside that of gate_protocol.hpp: its writer
///              reads W afterwards, and its reader has changed the queue before
/// Evidence     tests/gate/lab/doze_test.cpp (without time-outs: one that is to be woken is; with time-outs at every
///              step and deaths: nothing is lost; mutants)
///
/// Protocol is that of gate_protocol.hpp. Cells is what it runs on, and in addition
///   doze_off(i) get_up(i)   i's bell is set to asleep; to 0
///   doze(i)                 until i is rung: true; false if its time is over
///   doze_until_one_ends(set)   deaf to the bell: how it ended
///   ends(j) set_ends(j)     the variable
///   ring(i)                 rings i's bell (not one step: the bell, then the kernel)
///   is_cancelled()          no step: i is to give up
///   dozes_again()           no step: whether there is time for one more doze
///   is_time_to_heal()       no step: whether this member is to look for dead holders: others that doze do not
///   relax()                 no step: a moment passes
///   spins_most, spins_between_looks    how often a head looks whether it is granted; how often between two looks at W

#include "kgate/algorithms/gate_word.hpp"

namespace kgate::detail::gates {

template <class Protocol, class Cells>
class dozing {
 public:
  dozing(Protocol& gate, Cells& cells) : gate_(gate), c(cells) {}

  /// Queued member i sleeps until it is woken for a grant or for a free permit, or, as the head, until one of those
  /// inside has ended, if all leave by ending; or until its time is over.
  [[gnu::hot]] void doze(unsigned i) {
    for (typename Cells::retries tries; is_to_sleep(i); tries.again()) {
      c.live(31);
      if (is_head(i) && all_end()) {
        const doze_end how = c.call([&] { return watch_inside(); });
        if (how == doze_end::one_ended) c.call([&] { heal_holders(); });
        if (how == doze_end::over) break;
        if (how != doze_end::impossible) continue;
      }
      c.live(32);
      if (is_due(i)) continue;  // D3
      if (!c.doze(i) || !waits(i)) break;
      if (!is_head(i) || all_end()) continue;
      c.get_up(i);  // a granter need not wake it
      c.call([&] { spin_at_head(i); });
    }
    c.get_up(i);
  }

  /// The same again and again as long as the gate moves and there is time. Whether member i is then inside, in the
  /// state `inside`; else protocol::wait is next.
  [[gnu::hot]] bool doze_while_it_moves(unsigned i, state inside) {
    for (;;) {
      c.live(30, inside.bits);
      const word before = c.word();
      c.live(33, inside.bits, before.bits);
      c.call([&] { doze(i); });
      const state now = c.state_of(i);
      if (now == inside) {
        gate_.alert_behind(i);
        return true;
      }
      if (now.where() != kind::waits || c.word() == before || !c.dozes_again()) return false;
      c.live(42, inside.bits);
      if (c.is_time_to_heal()) c.call([&] { heal_holders(); });
    }
  }

  /// Queued member i is about to doze: whether there is nothing to do for it but to sleep.
  [[gnu::hot]] bool is_to_sleep(unsigned i) {
    c.live(34);
    c.doze_off(i);  // D1
    const word w = c.word();
    if (w.operation() == op::retired || c.is_cancelled()) return false;
    const bool room = w.free() > 0 && !w.closed();
    c.live(35, room);
    if (room && is_head(i)) c.call([&] { gate_.advance(); });
    return waits(i);
  }

  /// Spins for a grant, or for a free permit where none grants it.
  void spin_at_head(unsigned i) {
    for (int spin = 1; spin <= Cells::spins_most && waits(i); ++spin) {
      c.live(36, spin);
      c.relax();
      // Rarely enough not to take the cache line away from those that use it.
      if (spin % Cells::spins_between_looks == 0 && c.word().free() > 0) c.call([&] { gate_.advance(); });
    }
  }

  /// Completes what the dead left: a grant that was due, and what dead holders have, until none is inside.
  void heal_holders() {
    c.call([&] { gate_.advance(); });  // D4
    for (typename Cells::retries tries;; tries.again()) {
      c.live(38);
      if (!c.call([&] { return heal_inside(); })) return;
      c.call([&] { gate_.advance(); });
    }
  }

  /// Member i is inside, and its end is to be watched: it will not leave. A head that dozes does not know yet.
  void will_end(unsigned i) {
    c.set_ends(i);
    if (!c.word().waiting()) return;
    const unsigned head = c.queue().before();
    if (head < c.members()) c.ring(head);
  }

 private:
  bool waits(unsigned i) { return c.state_of(i).where() == kind::waits; }
  bool is_head(unsigned i) { return c.link_of(i).before() >= c.members(); }

  /// Whether there were dead holders.
  bool heal_inside() {
    bool found = false;
    for (unsigned j = 0, n = c.members(); j < n; ++j) {
      c.live(37, j, found);
      if (c.state_of(j).where() == kind::in && gate_.heal(j)) found = true;
    }
    return found;
  }

  /// Whether queued member i is the head and there is room for it.
  bool is_due(unsigned i) {
    if (!is_head(i)) return false;
    const word w = c.word();
    return w.free() > 0 && !w.closed() && c.state_of(i).weight() <= w.free();
  }

  /// Whether any is inside, and none of them will leave: then none wakes the next waiter.
  bool all_end() {
    return c.call([&] {
      bool any = false;
      for (unsigned j = 0, n = c.members(); j < n; ++j) {
        c.live(39, j, any);
        if (c.state_of(j).where() != kind::in) continue;
        if (!c.ends(j)) return false;
        any = true;
      }
      return any;
    });
  }

  /// Sleeps until one of those inside ends.
  doze_end watch_inside() {
    typename Cells::watch_set inside{};
    bool any = false;
    for (unsigned j = 0, n = c.members(); j < n; ++j) {
      c.live(40, j, inside, any);
      const state seen = c.state_of(j);
      if (seen.where() != kind::in) continue;
      c.live(43, j, inside, seen.bits);
      any = true;
      c.watch(inside, j);
      if (c.state_of(j) != seen) return doze_end::disturbed;  // D2: it may have been another one that has its number
    }
    c.live(41, inside, any);
    return any ? c.doze_until_one_ends(inside) : doze_end::disturbed;
  }

  Protocol& gate_;
  Cells& c;
};

}  // namespace kgate::detail::gates
