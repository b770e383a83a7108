// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Algorithms small enough to know everything about by hand.

#include "kgate/core/machine.hpp"

namespace kgate::toys {

/// Counts itself in and out. Nobody waits. 2 local states a process, and the counter follows from them: 2^N states, each with N
/// steps.
template <class M>
class turnstile {
 public:
  using Private = nothing_private;
  turnstile(typename M::Memory& memory, int, int) : X(memory, {.name = "X"}, 0) {}
  void acquire(typename M::Process& p, Private&) {
    X.fetch_add(p["1"], 1);
    p.live();
  }
  void release(typename M::Process& p, Private&) { X.fetch_add(p["2"], -1); }

 private:
  typename M::template Var<int> X;
};

/// A test-and-set lock that waits for the bit between its tries. For N = 2: 11 states and 20 steps.
///   free:  both in the remainder (2 steps); one waiting or about to try again while the other is in the remainder (2 steps each,
///          4 states): both cannot wait, for a try fails only while the other is inside
///   taken: 2 holders times the other in the remainder (2 steps), waiting (1) or about to try (2)
template <class M>
class lock_bit {
 public:
  using Private = nothing_private;
  lock_bit(typename M::Memory& memory, int, int) : X(memory, {.name = "X"}, false) {}
  void acquire(typename M::Process& p, Private&) {
    while (X.test_and_set(p["1"])) {
      p.live();
      X.await(p["2"], [](bool taken) { return !taken; });
      p.live();
    }
    p.live();
  }
  void release(typename M::Process& p, Private&) { X.write(p["3"], false); }

 private:
  typename M::template Var<bool> X;
};

/// Each of two politely steps back while the other wants to go in: nobody is blocked and nobody need ever enter.
template <class M>
class after_you {
 public:
  using Private = nothing_private;
  after_you(typename M::Memory& memory, int, int)
      : A(memory, {.name = "wants", .home = pid(0)}, false), B(memory, {.name = "wants", .home = pid(1)}, false) {}
  void acquire(typename M::Process& p, Private&) {
    for (;;) {
      p["0"].live();
      mine(p).write(p["1"], true);
      if (!other(p).read(p["2"])) break;
      p.live();
      mine(p).write(p["3"], false);
    }
    p.live();
  }
  void release(typename M::Process& p, Private&) { mine(p).write(p["4"], false); }

 private:
  using flag = typename M::template Var<bool>;
  flag& mine(typename M::Process& p) { return p.id() == pid(0) ? A : B; }
  flag& other(typename M::Process& p) { return p.id() == pid(0) ? B : A; }
  flag A, B;
};

/// Leaves by trying until nobody else is inside: takes steps in its exit without end.
template <class M>
class lingerer {
 public:
  using Private = nothing_private;
  lingerer(typename M::Memory& memory, int, int) : X(memory, {.name = "X"}, 0) {}
  void acquire(typename M::Process& p, Private&) {
    X.fetch_add(p["1"], 1);
    p.live();
  }
  void release(typename M::Process& p, Private&) {
    for (;;) {
      p["0"].live();
      if (X.read(p["2"]) == 1) break;
    }
    p.live();
    X.fetch_add(p["3"], -1);
  }

 private:
  typename M::template Var<int> X;
};

/// Remembers what it read but does not say so: its local states are merged wrongly.
template <class M>
class forgetful {
 public:
  using Private = nothing_private;
  forgetful(typename M::Memory& memory, int, int) : X(memory, {.name = "X"}, 0), Y(memory, {.name = "Y"}, 0) {}
  void acquire(typename M::Process& p, Private&) {
    const int seen = X.read(p["1"]);
    p.live();
    X.write(p["2"], 1 - seen);
    Y.write(p["3"], seen);
  }
  void release(typename M::Process& p, Private&) { Y.write(p["4"], 0); }

 private:
  typename M::template Var<int> X, Y;
};

/// A baton that goes round: process i enters when it is its turn, and only then.
template <class M>
class round_robin {
 public:
  using Private = nothing_private;
  round_robin(typename M::Memory& memory, int N, int) : N_(N), turn(memory, {.name = "turn"}, pid(0)) {}
  void acquire(typename M::Process& p, Private&) {
    turn.await(p["1"], [&](process_id t) { return t == p.id(); });
  }
  void release(typename M::Process& p, Private&) { turn.write(p["2"], pid((p.id().value + 1) % N_)); }

 private:
  int N_;
  typename M::template Var<process_id> turn;
};

}  // namespace kgate::toys
