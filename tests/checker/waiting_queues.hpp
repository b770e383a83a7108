// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Small algorithms whose fairness is plain to see: queues in which a waiter may or may not be overtaken.

#include <cstdint>
#include <string>

#include "lab/checker/properties/check.hpp"

namespace kgate::lab::waiting_queues {

/// A queue of waiters in order of arrival, how many are inside, and how often the first has been overtaken.
struct queue {
  std::uint8_t waiters[5] = {};  // process number + 1, 0 behind the last
  std::uint8_t inside = 0;
  std::uint8_t overtaken = 0;

  int position(int p) const {
    int at = 0;
    while (waiters[at] != p + 1) ++at;
    return at;
  }
  void join(int p) {
    int at = 0;
    while (waiters[at] != 0) ++at;
    waiters[at] = static_cast<std::uint8_t>(p + 1);
  }
  void go_inside(int p) {
    const int from = position(p);
    overtaken = static_cast<std::uint8_t>(from == 0 ? 0 : overtaken + 1);
    for (int at = from; at < 4; ++at) waiters[at] = waiters[at + 1];
    ++inside;
  }
};
inline std::string to_string(const queue& q) { return std::to_string(q.inside) + " inside"; }

inline constexpr int without_limit = -1;

/// When there is room, the first waiter may go inside; those at positions below Reach may too, as long as the first
/// has been overtaken fewer than Budget times. All try again and again.
template <class M, int Reach, int Budget>
class overtaking_queue {
 public:
  using Process = typename M::Process;
  using Private = nothing_private;

  overtaking_queue(typename M::Memory& memory, int, int k) : k_(k), L(memory, {.name = "L"}, queue{}) {}

  void acquire(Process& p, Private&) {
    [[maybe_unused]] auto frame = p.frame();
    const int me = p.id().value;
    L.rmw(p["1"], [me](queue q) {
      q.join(me);
      return q;
    });
    p.doorway_end();
    bool inside = false;
    while (!inside) {
      p.live();
      inside = may_enter(me, L.rmw(p["2"], [this, me](queue q) {
        if (may_enter(me, q)) q.go_inside(me);
        if (Budget == without_limit) q.overtaken = 0;
        return q;
      }));
    }
  }
  void release(Process& p, Private&) {
    [[maybe_unused]] auto frame = p.frame();
    L.rmw(p["3"], [](queue q) {
      --q.inside;
      return q;
    });
  }

 private:
  bool may_enter(int me, const queue& q) const {
    const int at = q.position(me);
    return q.inside < k_ && (at == 0 || (at < Reach && (Budget == without_limit || q.overtaken < Budget)));
  }

  int k_;
  typename M::template Var<queue> L;
};

/// A semaphore in front of which every process knocks once, to no effect.
template <class M, bool Marked = true>
class knocking_semaphore {
 public:
  using Process = typename M::Process;
  using Private = nothing_private;

  knocking_semaphore(typename M::Memory& memory, int, int k)
      : Door(memory, {.name = "Door"}, 0), S(memory, {.name = "S"}, k) {}

  void acquire(Process& p, Private&) {
    [[maybe_unused]] auto frame = p.frame();
    Door.write(p["1"], 0);
    if (Marked) p.doorway_end();
    for (;;) {
      p.live();
      S.await(p["2"], [](int permits) { return permits > 0; });
      if (S.rmw(p["3"], [](int permits) { return permits > 0 ? permits - 1 : permits; }) > 0) return;
    }
  }
  void release(Process& p, Private&) {
    [[maybe_unused]] auto frame = p.frame();
    S.fetch_add(p["4"], 1);
  }

 private:
  typename M::template Var<int> Door;
  typename M::template Var<int> S;
};

/// Excludes none: a process goes inside once it has read the same colour twice; one that leaves changes the colour.
/// Alone every process gets in; kept out is only one that is passed by others all the time.
template <class M>
class changing_colour {
 public:
  using Process = typename M::Process;
  using Private = nothing_private;

  changing_colour(typename M::Memory& memory, int, int) : Colour(memory, {.name = "Colour"}, false) {}

  void acquire(Process& p, Private&) {
    [[maybe_unused]] auto frame = p.frame();
    bool last = Colour.read(p["1"]);
    p.doorway_end();
    for (;;) {
      p.live(last);
      const bool now = Colour.read(p["2"]);
      if (now == last) return;
      last = now;
    }
  }
  void release(Process& p, Private&) {
    [[maybe_unused]] auto frame = p.frame();
    Colour.rmw(p["3"], [](bool now) { return !now; });
  }

 private:
  typename M::template Var<bool> Colour;
};

using fifo = overtaking_queue<checker_machine, 1, 0>;
using any_of_two = overtaking_queue<checker_machine, 2, without_limit>;
using any = overtaking_queue<checker_machine, 5, without_limit>;
template <int Budget>
using at_most = overtaking_queue<checker_machine, 2, Budget>;
using semaphore = knocking_semaphore<checker_machine>;
using unmarked_semaphore = knocking_semaphore<checker_machine, false>;
using colour = changing_colour<checker_machine>;

struct size {
  int N, k, passages = 0;
};

template <class Algorithm>
program make(size of) {
  return program(make_model<Algorithm>(of.N, of.k), of.N, of.k, {of.passages, {}});
}

inline property_result judge(program& p, const std::string& property) {
  check_request request;
  request.of = {"hand-made", p.N(), p.k(), p.options().passages, {}};
  request.properties = {property};
  request.crashes = p.k() - 1;
  request.limits.threads = 2;
  request.limits.memory_max = std::uint64_t{1} << 30;
  return check(p, request).properties.at(0);
}

}  // namespace kgate::lab::waiting_queues
