// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How members that doze without timers and the clock that ends their dozes agree on whether there is a clock.
///
/// Source       ours; the members of a gate object and its thread (src/gate/doze_clock.hpp)
/// Promises     one dozing without a timer is woken by its clock after a while, though the clock ends, when it finds
///              none dozing or is asked to end
/// Variables    runs       there is a clock. It is begun only while there is none; only the clock clears it
///              bell[i]    asleep while i dozes (gate_doze.hpp, D1); over: for long enough. Only i clears it
/// Invariant    C1  i dozes without a timer => runs, or the clock has yet to look at bell[i] before it ends: i sets
///                  bell[i] before it reads runs, and the clock clears runs before it reads bell[i]
///              C2  a doze that is over is not slept through: i sleeps only while bell[i] says asleep and nothing else
/// Deviations   none
/// Memory model sequential consistency: each side writes one variable and then reads the other's
/// Evidence     tests/gate/lab/doze_clock_test.cpp (all schedules; mutants)
///
/// Cells: runs() set_runs(bool) dozes(i) set_over(i), each one atomic step but the last, which sets the bell and then
/// wakes its sleeper; first() and next(i) of the clock's members, no_member after the last; live(n, a) as of
/// gate_protocol.hpp.

#include "kgate/algorithms/gate_word.hpp"

namespace kgate::detail::gates {

template <class Cells>
class doze_clock_protocol {
 public:
  explicit doze_clock_protocol(Cells& cells) : c(cells) {}

  /// The caller has set its bell to asleep: whether it needs no timer.
  [[gnu::hot]] bool is_watched() { return c.runs(); }  // C1

  /// A member has dozed for long enough.
  void end_doze(unsigned i) { c.set_over(i); }  // C2

  /// The clock has found none dozing for a while: whether it ends.
  bool end_clock() {
    c.set_runs(false);  // C1
    for (unsigned i = c.first(); i != no_member; i = c.next(i)) {
      c.live(51, i);
      if (!c.dozes(i)) continue;
      c.set_runs(true);
      return false;
    }
    return true;
  }

  /// There is to be no clock any more, even for dozing members: it ends.
  void retire_clock() {
    c.set_runs(false);  // C1, as above
    for (unsigned i = c.first(); i != no_member; i = c.next(i)) {
      c.live(52, i);
      if (c.dozes(i)) end_doze(i);
    }
  }

 private:
  Cells& c;
};

}  // namespace kgate::detail::gates
