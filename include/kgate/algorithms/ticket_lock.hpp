// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The ticket lock: mutual exclusion in the order of tickets drawn by fetch-and-add.
///
/// Source       Mellor-Crummey & Scott 1991, section 2.2, after Reed & Kanodia 1979. k = 1 only.
/// Promises     mutual exclusion, starvation freedom if none crashes, first come first served by the order of
///              statement 1, exit of two steps. One crash can stop it. N+2 remote references a passage on CC, unbounded
///              DSM. Primitives: fetch-and-add. Space: two variables, which grow without bound.
/// Variables    next_ticket  0, 1, 2 ...  the ticket that is drawn next      initially 0
///              now_serving  0, 1, 2 ...  whose ticket lets its owner enter  initially 0
/// Invariants   now_serving <= next_ticket; a process inside has the ticket now_serving
/// Deviations   none. The source has no labels; here 1-2 are acquire and 3-4, the two halves of an addition, release.
/// Memory model sequential consistency
/// Evidence     tests/algorithms/classics (properties, mutants, remote references), tests/algorithms/native (stress)

#include <cstdint>

#include "kgate/detail/machine.hpp"

namespace kgate {

template <class M>
class ticket_lock {
 public:
  using Process = typename M::Process;
  using Private = nothing_private;

  ticket_lock(typename M::Memory& memory, int /*N*/, int /*k*/)
      : next_ticket(memory, {.name = "next_ticket"}, 0U), now_serving(memory, {.name = "now_serving"}, 0U) {}

  void acquire(Process& p, Private&) {
    [[maybe_unused]] auto frame = p.frame();
    const std::uint32_t mine = next_ticket.fetch_add(p["1"], 1U);
    p.doorway_end();
    p.live(mine);
    now_serving.await(p["2"], [&](std::uint32_t served) { return served == mine; });
  }

  void release(Process& p, Private&) {
    [[maybe_unused]] auto frame = p.frame();
    const std::uint32_t served = now_serving.read(p["3"]);
    p.live(served);
    now_serving.write(p["4"], served + 1);
  }

 private:
  typename M::template Var<std::uint32_t> next_ticket;
  typename M::template Var<std::uint32_t> now_serving;
};

}  // namespace kgate
