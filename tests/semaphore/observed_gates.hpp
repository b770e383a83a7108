// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The kgate algorithm under hostile schedules of more processes than the checker can search, and an observer that counts, at the
/// very step, who is passed while it stands in line.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "kgate/algorithms/kgate.hpp"
#include "lab/schedules/adversary.hpp"
#include "lab/schedules/machine.hpp"

namespace kgate::lab {

/// Nobody else moves between a step and what is noted after it, so these counts are exact.
struct overtaking_observer {
  struct one {
    std::optional<std::uint64_t> ticket;  ///< while in line
    int passed = 0;
  };
  std::vector<one> all;
  int most = 0;
  std::uint64_t overtakings = 0;

  void note(int who, event e, std::uint64_t ticket) {
    one& self = all[static_cast<std::size_t>(who)];
    if (e == event::arrival) self = {ticket, 0};
    if (e == event::no_arrival) self.ticket.reset();
    if (e == event::overtaking) {
      ++overtakings;
      for (one& x : all)
        if (x.ticket) most = std::max(most, ++x.passed);
    }
    if (e == event::admission)
      for (one& x : all)
        if (x.ticket == ticket) x.ticket.reset();
  }
  static inline thread_local overtaking_observer* current = nullptr;
};

struct observed_machine : schedules::machine {
  static void note(Process& p, event e, std::uint64_t ticket) {
    overtaking_observer::current->note(p.id().value, e, ticket);
  }
};

/// Tickets and epochs wrap during the run.
using observed_words = gate_layout<std::uint64_t, std::uint64_t>;
template <int b>
struct observed_gate : ticket_gate<observed_machine, b, observed_words> {
  observed_gate(observed_machine::Memory& memory, int N, int k)
      : ticket_gate<observed_machine, b, observed_words>(memory, N, k, observed_words::ticket_mask - 5) {}
};

/// Wrong: looks at the epoch only after it has drawn its ticket.
template <int b>
struct late_stamp_gate : observed_gate<b> {
  using base = observed_gate<b>;
  using base::base;
  using typename base::Private;
  using typename base::Process;
  void acquire(Process& p, Private& mine) {
    if (this->enter(p, mine, 1)) return;
    mine.stamp = base::quota::epoch_of(this->look_before(p));
    this->wait(p, mine);
  }
};

struct overtaking_run {
  int most = 0;
  std::uint64_t overtakings = 0, passages = 0;
  bool over_admitted = false;
};

template <class Gate>
overtaking_run harassed(int N, int k, std::uint64_t seed, std::uint64_t steps) {
  overtaking_observer observer;
  observer.all.resize(static_cast<std::size_t>(N));
  overtaking_observer::current = &observer;
  schedules::arena<Gate> arena(N, k);
  const auto got = schedules::harass(arena, k, {.seed = seed, .steps = steps});
  return {observer.most, observer.overtakings, got.passages, got.over_admitted};
}

}  // namespace kgate::lab
