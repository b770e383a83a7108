// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The steps possible in a packed state: one text for the explorer, the graph and the replayer.

#include <cstdint>

#include "lab/checker/explore/tables.hpp"
#include "lab/checker/model/walker.hpp"

namespace kgate::lab {

/// A step of process p in a state: from local row `row`, observing `seen`. `choice` numbers the steps p has there: more
/// than one if it reads a safe register during a write, or chooses, or the step may end in several ways; death_choice
/// if it dies.
struct step {
  int p;
  const local_row& row;
  code seen;
  step_entry entry;
  int choice;
};

/// An observer rides along in the state's extra bits: it sees each step and may add steps of its own. This one does
/// neither.
struct no_observer {
  static constexpr bool active = false;
};

/// Calls moves(step, target) for each step possible in `from` and waits(step) for each process that waits or is
/// blocked. With `contention` > 0 a process starts a passage only while fewer than that are outside their remainder.
template <unsigned W, class Observer, class Moves, class Waits>
inline void for_each_step(tables& t, const Observer& observer, int contention, const std::uint64_t* from, Moves&& moves,
                          Waits&& waits) {
  const layout& pack = t.packing();
  const int N = t.source().N();
  bool crowded = false;
  if (contention > 0) {
    int outside = 0;
    for (int p = 0; p < N; ++p)
      outside += t.row(p, static_cast<local_id>(pack.local[p].get(from))).where != region::remainder;
    crowded = outside >= contention;
  }
  for (int p = 0; p < N; ++p) {
    const auto here = static_cast<local_id>(pack.local[p].get(from));
    const local_row& row = t.row(p, here);
    if (row.done || (crowded && row.where == region::remainder)) continue;
    const auto observe = [&](code seen, int choice) {
      const step_entry entry = t.step(p, here, seen);
      const step s{p, row, seen, entry, choice};
      std::uint64_t to[W];
      for (unsigned i = 0; i < W; ++i) to[i] = from[i];
      if (entry.blocked()) {
        waits(s);
        if constexpr (Observer::active) {
          if (observer.waits(to, s)) moves(s, to);
        }
        return;
      }
      pack.local[p].set(to, entry.next());
      if (entry.writes()) row.variable.set(to, entry.written());
      if constexpr (Observer::active) observer.steps(to, from, s);
      moves(s, to);
    };
    const auto value = static_cast<code>(row.variable.get(from));
    if (row.domain != nullptr && value == row.unstable) [[unlikely]] {
      int choice = 0;
      for (const code any : *row.domain) observe(any, choice++);
    } else if (row.ways > 1) [[unlikely]] {
      for (int way = 0; way < row.ways; ++way) observe(seen_by_way(value, way), way);
    } else {
      observe(value, 0);
    }
    // It may die wherever it is: in its remainder too, for an algorithm may have given it something there.
    if (t.mortal() && t.may_die(from)) [[unlikely]] {
      std::uint64_t to[W];
      for (unsigned i = 0; i < W; ++i) to[i] = from[i];
      t.kill(p, to);
      moves(step{p, row, 0, step_entry(transition{.next = program::dead}), death_choice}, to);
    }
  }
}

}  // namespace kgate::lab
