// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Lamport's bakery: take a ticket larger than all others, then wait for all with a smaller one.
///
/// Source       Danek 2010, figure 1 (Lamport 1974).
/// Promises     mutual exclusion (k = 1), starvation freedom without crashes, first come, first served, bounded exit (1
///              step). On safe registers too: a read that overlaps a write may return anything. O(N) remote references
///              a passage on CC, unbounded on DSM: it waits for the variables of others. Primitives: read and write.
///              Space: 2N registers; tickets grow as long as a process is outside its remainder.
/// Variables    Doorway[p]  home p  p is choosing its ticket         initially false
///              Ticket[p]   home p  p's ticket, 0 outside a passage  initially 0
/// Invariants   a process inside has the least (Ticket, number) of all with a ticket that are not choosing
/// Deviations   D1  p alone writes Ticket[p], so p uses its copy; it need not wait for itself.
/// Memory model sequential consistency; natively the registers are atomic
/// Evidence     tests/algorithms/danek10/model_test (all promises, on atomic and on safe registers), mutants_test (no
///              Doorway), tests/algorithms/native (stress)

#include <algorithm>
#include <utility>

#include "kgate/algorithms/danek10_registers.hpp"
#include "kgate/detail/forall.hpp"

namespace kgate::danek10 {

template <class M, class Order = order_of<M>>
class bakery_in_order {
 public:
  using Process = typename M::Process;
  using Private = nothing_private;

  bakery_in_order(typename M::Memory& memory, int processes, int)
      : N(processes),
        Doorway(
            static_cast<std::size_t>(processes),
            [&](std::size_t p) { return Flag(memory, {.name = "Doorway", .home = pid(static_cast<int>(p))}, false); }),
        Ticket(memory, processes),
        order(memory, processes) {}

  void acquire(Process& process, Private&) {
    [[maybe_unused]] auto frame = process.frame();
    const int p = process.id().value;
    const std::uint64_t others = process_set::all_but(p, N).bits();
    Doorway[process.id()].write(process["3"], true);
    ticket T = 0;
    for (auto turn = order.first(process, others); turn.more(); turn = order.next(process, turn)) {
      const int i = turn.member();
      process.live(turn, T);
      T = std::max(T, Ticket(i).read(process["4"]));
    }
    T = 1 + T;
    process.live(T);
    Ticket(p).write(process["4"], T);
    process.live(T);
    Doorway[process.id()].write(process["5"], false);
    process.doorway_end();
    for (auto turn = order.first(process, others); turn.more(); turn = order.next(process, turn)) {
      const int i = turn.member();
      process.live(turn, T);
      Doorway[pid(i)].await(process["7"], [](bool choosing) { return !choosing; });
      process.live(turn, T);
      Ticket(i).await(process["8"], [&](ticket other) { return other == 0 || std::pair(other, i) >= std::pair(T, p); });
    }
  }

  void release(Process& process, Private&) {
    [[maybe_unused]] auto frame = process.frame();
    Ticket(process.id().value).write(process["10"], 0);
  }

 private:
  using Flag = typename M::template Var<bool>;
  const int N;
  fixed_array<Flag> Doorway;
  ticket_registers<M> Ticket;
  forall<Order> order;
};

template <class M>
using bakery = bakery_in_order<M>;

}  // namespace kgate::danek10
