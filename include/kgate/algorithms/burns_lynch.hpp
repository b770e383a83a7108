// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Burns and Lynch's one-bit algorithm: mutual exclusion from one boolean per process, which is as few as there can be.
///
/// Source       Burns & Lynch 1993 ("Bounds on shared memory for mutual exclusion", section 4). k = 1 only.
/// Promises     mutual exclusion, deadlock freedom if none crashes, exit of one write; not starvation freedom. One
///              crash can stop it. Unbounded remote references on CC and DSM. Primitives: reads and writes. Space: N
///              booleans.
/// Variables    flag[p]  boolean  p is about to enter, or inside; local to p   initially false
/// Invariants   a process inside has its flag up since before it read every other one to be down
/// Deviations   none. The source has no labels; here 1-4 are the part that gives way to lower processes, 5 the wait for
///              higher ones, 6 the exit.
/// Memory model sequential consistency; flag[p] (3) must be visible before those of others are read (4, 5)
/// Evidence     tests/algorithms/classics (properties, mutants, remote references), tests/algorithms/native (stress)

#include <cstddef>

#include "kgate/detail/fixed_array.hpp"
#include "kgate/detail/machine.hpp"

namespace kgate {

template <class M>
class burns_lynch {
 public:
  using Process = typename M::Process;
  using Private = nothing_private;

  burns_lynch(typename M::Memory& memory, int N, int /*k*/)
      : flag(static_cast<std::size_t>(N),
             [&](std::size_t i) {
               return typename M::template Var<bool>(memory, {.name = "flag", .home = pid(static_cast<int>(i))}, false);
             }),
        N_(N) {}

  void acquire(Process& p, Private&) {
    [[maybe_unused]] auto frame = p.frame();
    for (;;) {
      p.live();
      flag[p.id()].write(p["1"], false);
      if (lower_is_up(p, false)) {
        p.pause();
        continue;
      }
      p.live();
      flag[p.id()].write(p["3"], true);
      if (!lower_is_up(p, true)) break;
      p.pause();
    }
    for (int j = p.id().value + 1; j < N_; ++j) {
      p.live(j);
      flag[pid(j)].await(p["5"], [](bool up) { return !up; });
    }
  }

  void release(Process& p, Private&) {
    [[maybe_unused]] auto frame = p.frame();
    flag[p.id()].write(p["6"], false);
  }

 private:
  /// Whether the flag of a process with a lower number was seen up.
  bool lower_is_up(Process& p, bool again) {
    for (int j = 0; j < p.id().value; ++j) {
      p.live(j, again);
      if (again ? flag[pid(j)].read(p["4"]) : flag[pid(j)].read(p["2"])) return true;
    }
    return false;
  }

  fixed_array<typename M::template Var<bool>> flag;
  const int N_;
};

}  // namespace kgate
