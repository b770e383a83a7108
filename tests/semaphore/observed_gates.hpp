// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Bounded barging under hostile schedules of more processes than the checker can search, and an observer that counts,
/// at the very step, the waiters that are passed while queued.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "kgate/algorithms/bounded_barging.hpp"
#include "lab/schedules/adversary.hpp"
#include "lab/schedules/machine.hpp"
#include "room_machine.hpp"

namespace kgate::lab {

/// No other moves between a step and what is noted after it, so these counts are exact.
struct overtaking_observer {
  struct one {
    std::optional<std::uint64_t> ticket;  ///< while queued
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

/// Sleeping is waiting for a change here.
class awaited_word {
 public:
  using Process = schedules::machine::Process;
  awaited_word(schedules::memory& memory, variable description, std::uint32_t initial)
      : word_(memory, description, initial) {}
  template <class F>
  std::uint32_t rmw(Process& p, F f) {
    return word_.rmw(p, f);
  }
  void sleep(Process& p, std::uint32_t while_it_is) {
    word_.await(p, [while_it_is](std::uint32_t v) { return v != while_it_is; });
  }
  void wake(Process&) {}

 private:
  schedules::machine::Var<std::uint32_t> word_;
};

struct observed_machine : room_on<schedules::machine, awaited_word, 12> {
  static void note(Process& p, event e, std::uint64_t ticket) {
    overtaking_observer::current->note(p.id().value, e, ticket);
  }
};

/// Tickets and epochs wrap during the run.
template <int b>
class observed_gate : public in_room<bounded_barging<observed_machine, b>, observed_machine> {
 public:
  using in_room<bounded_barging<observed_machine, b>, observed_machine>::in_room;
};

/// Wrong: looks at the epoch only after it has drawn its ticket.
template <int b>
struct late_stamp_barging : bounded_barging<observed_machine, b> {
  using base = bounded_barging<observed_machine, b>;
  using base::base;
  using typename base::Private;
  using typename base::Process;
  void acquire(Process& p, Private& mine) {
    if (this->enter(p, mine, 1)) return;
    this->note_stamp(p, mine);
    this->wait(p, mine);
  }
};
template <int b>
class late_stamp_gate : public in_room<late_stamp_barging<b>, observed_machine> {
 public:
  using in_room<late_stamp_barging<b>, observed_machine>::in_room;
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
