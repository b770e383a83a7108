// SPDX-License-Identifier: Apache-2.0
#pragma once

/// First-in, first-enabled k-exclusion from reads and writes: flags, and timestamps that say which came first.
///
/// Source       Afek, Dolev, Gafni, Merritt & Shavit 1994, figure 2, over any concurrent timestamp system.
/// Promises     k-exclusion; lockout avoidance with at most k-1 crashes; bounded first-in, first-enabled: one that left
///              the doorway before another entered it is enabled when that other is inside. Exit bounded (1 step and a
///              Label). Remote references unbounded on CC and DSM. Primitives: reads and writes. Space: N flags and the
///              timestamp system's registers.
/// Variables    X[i]  bool  i is outside its remainder   written by i   initially false
///              and those of the timestamp system
/// Invariants   X[i] holds from i's line 1 to its line 11
///              lemma 4.2: the sets Test of one passage only shrink
/// Deviations   D1  S_i leaves out i, which line 8 never counts.
///                  Scan is asked about those of S_i only whose flag is up, and about none if those are fewer than k:
///                  all its reads are made, what they return is not needed.
///              D2  the exit's Label can be left out for study (`Exit_label`): docs/errata.md says what it is for.
/// Memory model sequential consistency
/// Evidence     tests/algorithms/afek94 (all properties, FIFE: N = 3, k = 2, two passages; k-exclusion: N = 4, k = 2,
///              one passage; no exit Label, printed Label test), tests/algorithms/native (stress)

#include <bit>
#include <cstddef>

#include "kgate/algorithms/afek94_timestamps.hpp"
#include "kgate/detail/contracts.hpp"
#include "kgate/detail/fixed_array.hpp"
#include "kgate/detail/machine.hpp"

namespace kgate::afek94 {

template <class M, class Timestamps, bool Exit_label = true>
requires TimestampSystem<Timestamps, M>
class figure2 {
 public:
  using Process = typename M::Process;
  using Private = nothing_private;

  figure2(typename M::Memory& memory, int N, int k)
      : N_(N), k_(k), timestamps_(memory, N), X(static_cast<std::size_t>(N), [&](std::size_t i) {
          return Flag(memory, {.name = "X", .home = pid(static_cast<int>(i))}, false);
        }) {
    KGATE_EXPECTS(N <= process_set_max, "afek94: N is at most 64");
  }

  void acquire(Process& p, Private&) {
    [[maybe_unused]] auto frame = p.frame();
    X[p.id()].write(p["1"], true);
    p.live();
    timestamps_.label(p["2"]);
    process_set S = 0;
    for (int j = 0; j < N_; ++j) {
      if (j == p.id().value) continue;
      if (X[pid(j)].read(p["4"])) S |= only(j);
      p.live(j, S);
    }
    p.doorway_end();
    for (;;) {
      p["5"].live(S);
      process_set y = 0;
      for (int j = 0; j < N_; ++j) {
        if ((S & only(j)) == 0) continue;
        if (X[pid(j)].read(p["6"])) y |= only(j);
        p.live(j, S, y);
      }
      if (std::popcount(y) < k_) y = 0;  // whatever the Scan says, line 9 will pass: nothing need be asked of it
      const process_set earlier = timestamps_.scan(p["7"], y, S);
      if (std::popcount(earlier) < k_) return;  // line 9
      p.pause();
    }
  }

  void release(Process& p, Private&) {
    [[maybe_unused]] auto frame = p.frame();
    X[p.id()].write(p["11"], false);
    if constexpr (Exit_label) timestamps_.label(p["12"]);
  }

 private:
  using Flag = typename M::template Var<bool>;
  int N_;
  int k_;
  Timestamps timestamps_;
  fixed_array<Flag> X;
};

/// afek94-fife
template <class M>
using fife = figure2<M, unbounded_timestamps<M>>;

/// afek94-as-printed
template <class M>
using printed_label = figure2<M, unbounded_timestamps<M, as_printed>>;

}  // namespace kgate::afek94
