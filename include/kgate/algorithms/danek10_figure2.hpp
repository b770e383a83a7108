// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The k-bakery: take a ticket, announce it to all, wait until fewer than k smaller tickets are left.
///
/// Source       Danek 2010, figure 2. `kfcfs` is its unshaded part (theorem 8), `fife` all of it (theorem 9): one that
///              is about to enter captures those with smaller tickets, and a captured process enters too. `reset` is
///              reconstructed: section 7 says that there are algorithms that reset tickets, and leaves them out.
/// Promises     k-exclusion and starvation freedom with at most k-1 crashes, bounded exit (N-1 steps), k-FCFS; `fife`
///              also FIFE. Theta(N) remote references a passage on CC and DSM. Primitives: atomic read and write.
///              Space: N^2 registers, N(N-1) more for `fife`. N <= 64, as a set of processes is one word.
/// Variables    Want[p][i]     home i  what p tells i: its ticket, or infinity outside a passage  initially infinity
///              Ticket[p]      home p  p's ticket of its last or current passage                  initially 0
///              Capture[p][i]  home i  `fife`: the ticket with which p last entered               initially 0
/// Invariants   L1  if p starts to choose after q has chosen, p's ticket is larger than q's          (lemma 1)
///              L3  if (Ticket[q],q) < (Ticket[p],p), q stays in p's predecessor_set until q exits   (lemma 3)
/// Deviations   D1  p alone writes Ticket[p], so p reads it once a passage and then uses its copy.
///              D2  Want[p][p] and Capture[p][p] do not exist: the first is never read, the second never exceeds
///                  Ticket[p].
///              D3  `reset`: a process sets its ticket to 0 when it leaves (25t), and at the end of its doorway, its
///                  ticket chosen, clears what has captured it so far (15c). A capture written later is by one that is
///                  before its critical section, so its ticket was there to be read, or it chose at the same time:
///                  what it captures with is larger only if it came later, as in figure 2. Capture[q][p] then has two
///                  writers, q and p.
/// Memory model sequential consistency; an announcement (14) must be visible before tickets are read (15), and an
///              announced ticket (16) before the announcements of others are read (21)
/// Evidence     tests/algorithms/danek10: properties, mutants, the paper's own schedule against FIFE, remote
///              references; tests/algorithms/native (stress)

#include <algorithm>
#include <utility>

#include "kgate/algorithms/danek10_registers.hpp"
#include "kgate/detail/forall.hpp"

namespace kgate::danek10 {

template <class M, bool Fife, bool Resets = false, class Order = order_of<M>>
class figure2 {
 public:
  using Process = typename M::Process;
  using Private = nothing_private;

  figure2(typename M::Memory& memory, int processes, int inside_max)
      : N(processes),
        k(inside_max),
        Want(memory, "Want", N, infinity),
        Ticket(memory, N),
        Capture(memory, "Capture", Fife ? N : 1, 0),
        order(memory, N) {}

  void acquire(Process& process, Private&) {
    [[maybe_unused]] auto frame = process.frame();
    const int p = process.id().value;
    const ticket last = Ticket(p).read(process["14t"]);
    for (auto turn = order.first(process, others(p)); turn.more(); turn = order.next(process, turn)) {
      const int i = turn.member();
      process.live(turn, last);
      Want(p, i).write(process["14"], last);
    }
    ticket T = last;
    for (auto turn = order.first(process, others(p)); turn.more(); turn = order.next(process, turn)) {
      const int i = turn.member();
      process.live(turn, T);
      T = std::max(T, Ticket(i).read(process["15"]));
    }
    T = 1 + T;
    process.live(T);
    Ticket(p).write(process["15"], T);  // L1
    if constexpr (Fife && Resets) {
      for (auto turn = order.first(process, others(p)); turn.more(); turn = order.next(process, turn)) {
        const int i = turn.member();
        process.live(turn, T);
        Capture(i, p).write(process["15c"], 0);  // D3
      }
      process.live(T);
    }
    process.doorway_end();
    for (auto turn = order.first(process, others(p)); turn.more(); turn = order.next(process, turn)) {
      const int i = turn.member();
      process.live(turn, T);
      Want(p, i).write(process["16"], T);
    }
    await_turn(process, p, T);
    if constexpr (Fife) {
      for (auto turn = order.first(process, others(p)); turn.more(); turn = order.next(process, turn)) {
        const int i = turn.member();
        process.live(turn, T);
        Capture(p, i).write(process["23"], T);
      }
    }
  }

  void release(Process& process, Private&) {
    [[maybe_unused]] auto frame = process.frame();
    const int p = process.id().value;
    for (auto turn = order.first(process, others(p)); turn.more(); turn = order.next(process, turn)) {
      const int i = turn.member();
      process.live(turn);
      Want(p, i).write(process["25"], infinity);
    }
    if constexpr (Resets) Ticket(p).write(process["25t"], 0);  // D3
  }

 private:
  std::uint64_t others(int p) const { return process_set::all_but(p, N).bits(); }

  /// Lines 17-22.
  void await_turn(Process& process, int p, ticket T) {
    bool captured = false;
    process_set predecessor_set = process_set::all_but(p, N);
    const auto waits = [&] { return predecessor_set.size() >= k && !captured; };
    while (waits()) {
      const std::uint64_t all = predecessor_set.bits();
      for (auto turn = order.first(process, all); turn.more(); turn = order.next(process, turn)) {
        const int i = turn.member();
        process.live(turn, T, predecessor_set.bits());
        if (std::pair(T, p) < std::pair(Want(i, p).read(process["21"]), i)) predecessor_set.remove(i);  // L3
      }
      if constexpr (Fife) {
        for (auto turn = order.first(process, others(p)); turn.more(); turn = order.next(process, turn)) {
          const int i = turn.member();
          process.live(turn, T, predecessor_set.bits(), captured);
          if (T < Capture(i, p).read(process["22"])) captured = true;
        }
      }
      if (waits()) process.pause();
    }
  }

  const int N;
  const int k;
  pair_registers<M> Want;
  ticket_registers<M> Ticket;
  pair_registers<M> Capture;
  forall<Order> order;
};

template <class M>
using kfcfs = figure2<M, false>;

template <class M>
using fife = figure2<M, true>;

/// danek10-reset: tickets start again from 0 when none is outside its remainder.
template <class M>
using reset = figure2<M, true, true>;

}  // namespace kgate::danek10
