// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The k-bakery on safe registers: a read that overlaps a write may return anything, and the algorithm stays correct.
///
/// Source       Danek 2010, figure 3 (theorem 10, stated there without proof).
/// Promises     k-exclusion and starvation freedom with at most k-1 crashes, bounded exit (2(N-1) writes), FIFE: on
///              safe registers. Theta(N) remote references a passage on CC and DSM. Primitives: read and write, neither
///              of them atomic. Space: N + 4N(N-1) registers. N <= 64, as a set of processes is one word.
/// Variables    Want1[p][i], Want2[p][i]        home i  what p tells i, twice                        initially infinity
///              Ticket[p]                       home p  p's ticket of its last or current passage    initially 0
///              Capture1[p][i], Capture2[p][i]  home i  a ticket with which p entered, twice         initially 0
/// Invariants   W   copy 1 is written before copy 2 and read after it, so a reader that both copies mislead has
///                  overlapped two announcements: the writer has gone on in between
/// Deviations   D1  p alone writes Ticket[p], so p reads it once a passage and then uses its copy.
///              D2  the diagonals Want[p][p] and Capture[p][p] do not exist: the first is never read, the second never
///                  exceeds Ticket[p].
/// Memory model natively the registers are weak (detail/weak_register.hpp): a write releases and a read acquires, so
///              that copies are written and read in their order (W), Ticket is written before the announcements of its
///              value, and what was done inside happens before the announcements of line 48 and so before what one that
///              reads them does inside. What that leaves open is a read that passes a write before it. Two fences:
///              F1  after line 30: p has announced itself before it reads tickets. Partner F2: if p misses the ticket
///                  that i has written, i sees p's announcement, and waits for p.
///              F2  after line 33: p has announced its ticket before it reads what others announce. Partners F2 and F1:
///                  of two that announce themselves at least one sees the other.
///              Captures (45) need none: a missed one is read the next time round, and no read that follows them
///              decides on them.
/// Evidence     tests/algorithms/danek10: properties on safe registers, mutants, remote references; with writes delayed
///              as on x86, over all runs of N = 2, k = 1, three passages: one inside with F1 and F2, two without either
///              of them. tests/algorithms/native: stress, with whole registers and with registers written byte by byte

#include <algorithm>
#include <utility>

#include "kgate/algorithms/danek10_registers.hpp"
#include "kgate/detail/weak_register.hpp"

namespace kgate::danek10 {

template <class M>
class nonatomic {
 public:
  using Process = typename M::Process;
  using Private = nothing_private;

  nonatomic(typename M::Memory& memory, int processes, int inside_max)
      : N(processes),
        k(inside_max),
        Want1(memory, "Want1", N, infinity),
        Want2(memory, "Want2", N, infinity),
        Ticket(memory, N),
        Capture1(memory, "Capture1", N, 0),
        Capture2(memory, "Capture2", N, 0) {}

  void acquire(Process& process, Private&) {
    [[maybe_unused]] auto frame = process.frame();
    const int p = process.id().value;
    const ticket last = Ticket(p).read(process["30t"]);
    for (int i = 0; i < N; ++i) {
      if (i == p) continue;
      process.live(i, last);
      Want1(p, i).write(process["30"], last);
      Want2(p, i).write(process["30"], last);
    }
    fence(process["F1"]);
    ticket T = last;
    for (int i = 0; i < N; ++i) {
      if (i == p) continue;
      process.live(i, T);
      T = std::max(T, Ticket(i).read(process["31"]));
    }
    T = 1 + T;
    process.live(T);
    Ticket(p).write(process["31"], T);
    process.doorway_end();
    for (int i = 0; i < N; ++i) {
      if (i == p) continue;
      process.live(i, T);
      Want1(p, i).write(process["33"], T);
      Want2(p, i).write(process["33"], T);
    }
    fence(process["F2"]);
    await_turn(process, p, T);
    capture(process, p, T);
  }

  void release(Process& process, Private&) {
    [[maybe_unused]] auto frame = process.frame();
    const int p = process.id().value;
    for (int i = 0; i < N; ++i) {
      if (i == p) continue;
      process.live(i);
      Want1(p, i).write(process["48"], infinity);
      Want2(p, i).write(process["48"], infinity);
    }
  }

 private:
  /// Lines 34-42.
  void await_turn(Process& process, int p, ticket T) {
    process_set predecessor_set = process_set::all_but(p, N);
    bool captured = false;
    const auto waits = [&] { return predecessor_set.size() >= k && !captured; };
    while (waits()) {
      for (int i = 0; i < N; ++i) {
        if (!predecessor_set.contains(i)) continue;
        process.live(i, T, predecessor_set.bits());
        if (std::pair(T, p) < std::pair(Want2(i, p).read(process["38"]), i)) {
          process.live(i, T, predecessor_set.bits());
          if (std::pair(T, p) < std::pair(Want1(i, p).read(process["39"]), i)) predecessor_set.remove(i);  // W
        }
      }
      for (int i = 0; i < N; ++i) {
        if (i == p) continue;
        process.live(i, T, predecessor_set.bits(), captured);
        if (T < Capture2(i, p).read(process["41"])) {
          process.live(i, T, predecessor_set.bits(), captured);
          if (T < Capture1(i, p).read(process["42"])) captured = true;  // W
        }
      }
      if (waits()) process.pause();
    }
  }

  /// Lines 43-45. One that is captured already is left alone, so that it can read its capture undisturbed.
  void capture(Process& process, int p, ticket T) {
    for (int i = 0; i < N; ++i) {
      if (i == p) continue;
      process.live(i, T);
      const ticket captured = Capture1(p, i).read(process["44"]);
      process.live(i, T, captured);
      if (captured <= Ticket(i).read(process["44"])) {
        process.live(i, T);
        Capture1(p, i).write(process["45"], T);
        Capture2(p, i).write(process["45"], T);
      }
    }
  }

  const int N;
  const int k;
  using Register = weak_register<M, ticket>;
  pair_registers<M, Register> Want1;
  pair_registers<M, Register> Want2;
  ticket_registers<M, Register> Ticket;
  pair_registers<M, Register> Capture1;
  pair_registers<M, Register> Capture2;
};

}  // namespace kgate::danek10
