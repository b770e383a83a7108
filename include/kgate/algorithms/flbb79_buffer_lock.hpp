// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Mutual exclusion with bounded waiting in one variable of N + 3 values: arrivals are counted, and a leader calls
/// those counted, a batch at a time, with itself the last of it.
///
/// Source       Reconstructed. Theorem 4.1 of Fischer, Lynch, Burns & Borodin 1979 takes its locks from Burns et al.
///              1978 and Cremers & Hibbard 1979, whose texts are not at hand; what is known of them is the buffer that
///              empties into a main area, a count in the same variable as a few messages, and their sizes: N + 3 values
///              for bounded waiting, floor(N/2) + 9 without lockout, N + 7 for FIFO. This is the first of the three.
/// Promises     mutual exclusion; without crashes starvation freedom and 1-bounded waiting: none gets inside
///              twice while another waits; the first to enter is back in its remainder first (order preserving). k = 1.
///              Remote references unbounded on CC and DSM. Primitives: read-modify-write of one variable.
/// Variables    V   0..N-2   busy, and so many arrived that none has taken note of
///                  N-1      free; or N-1 arrived, when none is left that could take it for free
///                  P        go on: from the buffer to the porch, from the porch to main; answered by a count
///                  C        to one of main: come in; answered by X when it leaves
///                  X        done; to the one on the porch of a leader that leaves: lead, answered by C
///                  initially N-1
/// Invariants   L1  C and X are in V, or with one that arrived and found them there, which puts them back as soon as V
///                  is 0. None has to keep P: one that finds it on arrival takes it and counts itself, as if one of the
///                  buffer had taken it and it had arrived then. So a count says that P was taken.
///              L2  while P is in V, its sender has taken note of all that are in the buffer and on the porch; it sends
///                  P twice for each, and when it has, all are in main
///              L3  none is on the porch when X is sent, but the one that is to lead; main is empty then
///              L4  the leader enters when main is empty, and while it is inside there is no message
/// Deviations   none: there is no text. Labels: T arrive, B buffer, Q porch, R put a message back, W main, L leader, E
///              exit.
/// Memory model one variable: coherence is enough
/// Evidence     tests/algorithms/flbb79/theorem41_test (exclusion, progress, C4 with b = 1, number of values, under the
///              bank too; mutants), tests/algorithms/native (stress)

#include "kgate/detail/machine.hpp"

namespace kgate::flbb79 {

template <class M>
class buffer_lock {
 public:
  using Process = typename M::Process;
  /// Of a leader: how many of the buffer and of main it knows of, and how many P it has to send.
  struct Private {
    int buffer = -1;  ///< -1: no leader
    int main = 0;
    int moves = 0;
  };

  buffer_lock(typename M::Memory& memory, int N, int /*k*/)
      : free_(N - 1), P(N), C(N + 1), X(N + 2), V(memory, {.name = "V"}, free_) {}

  void acquire(Process& p, Private& mine) {
    const int found = V.rmw(p["T"], [this](int v) { return v == free_ ? 0 : is_count(v) ? v + 1 : 1; });
    p.doorway_end();
    if (found == free_) {
      mine.buffer = 0;
      p.live(mine);
      return;
    }
    if (found == C || found == X) put(p, "R", found, mine);  // L1
    if (found != P)
      change(
          p, "B", [this](int v) { return v == P; }, [](int) { return 0; }, mine, 0);
    const int call = change(
        p, "Q", [this](int v) { return v == P || v == X; }, [this](int v) { return v == P ? 0 : C; }, mine, 1);
    if (call == P) {
      change(
          p, "W", [this](int v) { return v == C; }, [](int) { return 0; }, mine, 2);
    } else {
      mine.buffer = 0;
      await_answer(p, X, mine);
      lead(p, mine);
    }
    p.live(mine);
  }

  void release(Process& p, Private& mine) {
    if (mine.buffer >= 0) {
      mine.buffer += V.rmw(p["E"], [&](int v) { return v + mine.buffer == 0 ? free_ : P; });
      if (mine.buffer == 0) return;
      // P has been taken: to the one that took it, lead. What this leader has counted goes back to where the next one
      // finds it, with those that arrive meanwhile.
      mine.buffer += await_count(p, X, mine) - 1;
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

  /// Waits until P is taken, and puts `next` in place of the count; that count.
  int await_count(Process& p, int next, const Private& mine) {
    return change(
        p, "L", [this](int now) { return is_count(now); }, [&](int) { return next; }, mine, P);
  }
  /// Counts those that arrive until the answer has come. Then V is 0; or, when the answer is that of a new leader, the
  /// number of the others.
  void await_answer(Process& p, int answer, Private& mine) {
    for (;;) {
      const int v = change(
          p, "L", [&](int now) { return now == answer || (now > 0 && is_count(now)); },
          [&](int now) { return now == answer && answer == C ? mine.buffer : 0; }, mine, answer);
      if (v == answer) return;
      mine.buffer += v;
    }
  }

  /// All of the buffer to main, and those that arrive meanwhile (L2), then all of main inside, one by one (L4).
  void lead(Process& p, Private& mine) {
    for (mine.moves = 2 * mine.buffer; mine.moves > 0; --mine.moves) {
      note(send(p, P), mine);
      note(await_count(p, 0, mine), mine);
    }
    mine.main = mine.buffer;
    mine.buffer = 0;
    for (; mine.main > 0; --mine.main) {
      mine.buffer += send(p, C);
      await_answer(p, X, mine);
    }
  }
  void note(int arrived, Private& mine) {
    mine.buffer += arrived;
    mine.moves += 2 * arrived;
  }
  /// A message stands for a count; that count.
  int send(Process& p, int message) {
    return V.rmw(p["L"], [&](int) { return message; });
  }

  const int free_, P, C, X;
  typename M::template Var<int> V;
};

}  // namespace kgate::flbb79
