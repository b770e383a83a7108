// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Mutual exclusion with bounded waiting in one variable of N + 4 values: who arrives is counted, and a leader calls
/// those counted, a batch at a time, with itself the last of it.
///
/// Source       Reconstructed. Theorem 4.1 of Fischer, Lynch, Burns & Borodin 1979 takes its locks from Burns et al.
///              1978 and Cremers & Hibbard 1979, whose texts are not at hand; what is known of them is the buffer that
///              empties into a main area, a count in the same variable as a few messages, and their sizes: N + 3 values
///              for bounded waiting, floor(N/2) + 9 without lockout, N + 7 for FIFO. This one has one value more than
///              the first, and so no more than the second up to N = 10.
/// Promises     mutual exclusion; without crashes starvation freedom and 1-bounded waiting: nobody gets inside
///              twice while another waits; who enters first returns to its remainder first (order preserving). k = 1.
///              Remote references unbounded on CC and DSM. Primitives: read-modify-write of one variable.
/// Variables    V   0..N-2   busy, and so many arrived that nobody has taken note of
///                  N-1      free; or N-1 arrived, when nobody is left who could take it for free
///                  P        to one of the buffer: go to main       answered by X
///                  C        to one of main: come in                answered by X when it leaves
///                  E        to one of the buffer: be the next leader   answered by C, with main empty
///                  X        done
///                  initially N-1
/// Invariants   L1  there is at most one message; it is in V, or with the one that arrived and found it there, which
///                  puts it back as soon as V is 0
///              L2  while P or E is in V, as many processes are in the buffer as its sender has taken note of
///              L3  the leader enters when main is empty, and while it is inside there is no message
/// Deviations   none: there is no text. Labels: T arrive, B buffer, R put a message back, W main, L leader, E exit.
/// Memory model one variable: coherence is enough
/// Evidence     tests/algorithms/flbb79/theorem41_test (exclusion, progress, C4 with b = 1, number of values, under the
///              bank too; mutants), tests/algorithms/native (stress)

#include "kgate/detail/machine.hpp"

namespace kgate::flbb79 {

template <class M>
class buffer_lock {
 public:
  using Process = typename M::Process;
  /// Of a leader: how many of the buffer and of main it knows of, and the message it has sent last.
  struct Private {
    int buffer = -1;  ///< -1: no leader
    int main = 0;
    int sent = 0;
  };

  buffer_lock(typename M::Memory& memory, int N, int /*k*/)
      : free_(N - 1), P(N), C(N + 1), X(N + 2), E(N + 3), V(memory, {.name = "V"}, free_) {}

  void acquire(Process& p, Private& mine) {
    const int found = V.rmw(p["T"], [this](int v) { return v == free_ ? 0 : is_count(v) ? v + 1 : 1; });
    p.doorway_end();
    if (found == free_) {
      mine.buffer = 0;
      p.live(mine);
      return;
    }
    if (!is_count(found)) put(p, "R", found, mine);  // L1
    const int call = change(
        p, "B", [this](int v) { return v == P || v == E; }, [this](int v) { return v == P ? X : C; }, mine, 0);
    if (call == P) {
      change(
          p, "W", [this](int v) { return v == C; }, [](int) { return 0; }, mine, 1);
    } else {
      mine.buffer = 0;
      await_answer(p, X, mine);
      lead(p, mine);
    }
    p.live(mine);
  }

  void release(Process& p, Private& mine) {
    if (mine.buffer >= 0) {
      mine.buffer += V.rmw(p["E"], [&](int v) { return v + mine.buffer == 0 ? free_ : E; });
      if (mine.buffer == 0) return;
      // What this leader has counted goes back to where the next one finds it, with those that arrive meanwhile.
      await_answer(p, C, mine);
    }
    put(p, "E", X, mine);
  }

 private:
  bool is_count(int v) const { return v <= free_; }

  /// Waits until V is as `when` says, and changes it; what it was. The rest is what the process must not forget.
  template <class When, class To>
  int change(Process& p, const char* label, When when, To to, const Private& mine, int message) {
    for (;;) {
      p.live(mine, message);
      V.await(p[label], when);
      const int v = V.rmw(p[label], [&](int now) { return when(now) ? to(now) : now; });
      if (when(v)) return v;
    }
  }
  void put(Process& p, const char* label, int message, const Private& mine) {
    change(
        p, label, [](int v) { return v == 0; }, [&](int) { return message; }, mine, message);
  }

  /// Counts those that arrive until the answer has come. Then V is 0; or, when the answer is that of a new leader, the
  /// number of the others.
  void await_answer(Process& p, int answer, Private& mine) {
    for (;;) {
      const int v = change(
          p, "L", [&](int now) { return now == answer || (now > 0 && is_count(now)); },
          [&](int now) { return now == answer && answer == C ? mine.buffer - 1 : 0; }, mine, answer);
      if (v == answer) return;
      mine.buffer += v;
    }
  }

  /// All of the buffer to main (L2), then all of main inside, one by one (L3).
  void lead(Process& p, Private& mine) {
    for (; mine.buffer > 0; --mine.buffer, ++mine.main) call(p, P, mine);
    for (; mine.main > 0; --mine.main) call(p, C, mine);
    mine.sent = 0;
  }
  /// Sends a message, which takes the place of a count, and waits until it is done.
  void call(Process& p, int message, Private& mine) {
    mine.buffer += V.rmw(p["L"], [&](int) { return message; });
    mine.sent = message;
    await_answer(p, X, mine);
  }

  const int free_, P, C, X, E;
  typename M::template Var<int> V;
};

}  // namespace kgate::flbb79
