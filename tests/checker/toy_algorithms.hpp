// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Algorithms small enough to know everything about by hand.

#include <array>
#include <cstdint>
#include <deque>
#include <random>

#include "kgate/detail/machine.hpp"

namespace kgate::toys {

/// Counts itself in and out. None waits. 2 local states a process, and the counter follows from them: 2^N states, each
/// with N steps.
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
///   free:  both in the remainder (2 steps); one waiting or about to try again while the other is in the remainder (2
///          steps each, 4 states): both cannot wait, for a try fails only while the other is inside
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

/// Each of two politely steps back while the other wants to go in: none is blocked and none need ever enter.
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

/// Leaves by trying until no other is inside: takes steps in its exit without end.
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

/// Two branches that each call `live`, make the same access next and then go on differently: one that finds X still
/// false takes the lock, every later one walks in beside it.
template <class M>
class branches {
 public:
  using Private = nothing_private;
  branches(typename M::Memory& memory, int, int)
      : X(memory, {.name = "X"}, false), Y(memory, {.name = "Y"}, false), L(memory, {.name = "L"}, false) {}
  void acquire(typename M::Process& p, Private&) {
    if (!X.read(p["1"])) {
      p.live();
      Y.read(p["2"]);
      while (L.test_and_set(p["3"])) {
        p.live();
        L.await(p["4"], [](bool taken) { return !taken; });
        p.live();
      }
    } else {
      p.live();
      Y.read(p["2"]);
    }
    p.live();
  }
  void release(typename M::Process& p, Private&) {
    X.write(p["5"], true);
    L.write(p["6"], false);
  }

 private:
  typename M::template Var<bool> X, Y, L;
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

/// A text made up at random: a table of accesses to a flag, to a bit of each process's own and to a variable that names
/// a process, each with where to go on, all in the entry. Every process has the same table, so renaming processes maps
/// runs to runs; some tables starve a process and some do not.
struct random_table {
  enum class access { read_flag, set_flag, clear_flag, is_named, name_me, read_mine, set_mine, swap_name };
  struct line {
    access what;
    int next[2];  ///< by what was read; `length` is the critical section
  };
  static constexpr int length = 4;
  std::array<line, length> lines{};

  explicit random_table(std::uint64_t seed) {
    std::mt19937_64 any(seed);
    for (line& l : lines) {
      l.what = static_cast<access>(any() % 8);
      for (int& n : l.next) n = static_cast<int>(any() % (length + 1));
    }
  }
};

template <class M>
class random_text {
 public:
  using Private = nothing_private;
  random_text(typename M::Memory& memory, int N, int)
      : table_(seed), flag_(memory, {.name = "flag"}, false), named_(memory, {.name = "named"}, nobody) {
    for (int p = 0; p < N; ++p) mine_.emplace_back(memory, variable{.name = "mine", .home = pid(p)}, false);
  }
  void acquire(typename M::Process& p, Private&) {
    int at = 0;
    while (at != random_table::length) {
      const random_table::line& line = table_.lines[static_cast<std::size_t>(at)];
      p[labels[static_cast<std::size_t>(at)]].live(at);
      at = line.next[perform(p[labels[static_cast<std::size_t>(at)]], line.what)];
    }
    p.live();
  }
  void release(typename M::Process& p, Private&) { flag_.write(p["out"], false); }

  static inline std::uint64_t seed = 0;

 private:
  static constexpr std::array<const char*, random_table::length> labels{"0", "1", "2", "3"};

  template <class Process>
  bool perform(Process& p, random_table::access what) {
    switch (what) {
      case random_table::access::read_flag:
        return flag_.read(p);
      case random_table::access::set_flag:
        flag_.write(p, true);
        return true;
      case random_table::access::clear_flag:
        flag_.write(p, false);
        return false;
      case random_table::access::is_named:
        return named_.read(p) == p.id();
      case random_table::access::name_me:
        named_.write(p, p.id());
        return true;
      case random_table::access::read_mine:
        return mine_[p.id().value].read(p);
      case random_table::access::set_mine:
        mine_[p.id().value].write(p, true);
        return true;
      case random_table::access::swap_name:
        return named_.exchange(p, p.id()) == p.id();
    }
    return false;
  }

  random_table table_;
  typename M::template Var<bool> flag_;
  typename M::template Var<process_id> named_;
  std::deque<typename M::template Var<bool>> mine_;
};

/// The first to come watches while there is a dance. The others go in at once and dance on their way out: each puts its
/// name up, and the dance is over for good when one finds its own. One alone ends it. Two that take turns dance for
/// ever, though in every state the next step of one of the two would end it.
template <class M>
class dance {
 public:
  using Private = nothing_private;
  dance(typename M::Memory& memory, int, int)
      : first_(memory, {.name = "first"}, false),
        begun_(memory, {.name = "begun"}, false),
        over_(memory, {.name = "over"}, false),
        up_(memory, {.name = "up"}, nobody) {}
  void acquire(typename M::Process& p, Private&) {
    if (first_.test_and_set(p["1"])) {
      p.live();
      begun_.write(p["2"], true);
    } else {
      for (;;) {
        p["3"].live();
        if (!begun_.read(p["3"]) || over_.read(p["4"])) break;
      }
    }
    p.live();
  }
  void release(typename M::Process& p, Private&) {
    for (;;) {
      p["5"].live();
      if (up_.exchange(p["5"], p.id()) == p.id()) break;
    }
    over_.write(p["6"], true);
  }

 private:
  typename M::template Var<bool> first_, begun_, over_;
  typename M::template Var<process_id> up_;
};

}  // namespace kgate::toys
