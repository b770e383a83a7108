// SPDX-License-Identifier: Apache-2.0
// A k-exclusion algorithm to start from: a counter of free places. Try
//
//     kgate-lab check FILE.hpp -N 3 -k 2
//
// and change it. docs/own-algorithm.md explains what is used here, and which mistakes look like what.
#pragma once

#include <string>

#include "kgate/detail/machine.hpp"

template <class M>  // the machine: the checker's, or the one of the real hardware
class CLASS {
 public:
  using Process = typename M::Process;
  // What a process keeps from acquire to release; made afresh for each passage.
  using Private = kgate::nothing_private;

  // What the text promises; check says of a violation whether it was promised.
  static constexpr const char* promises = "k-exclusion, deadlock-free, bounded-exit";
  // Processes differ by their names only, so that --symmetry may be used.
  static constexpr bool symmetric = true;

  // Everything that processes share is a Var, with the name that traces show and its initial value.
  CLASS(typename M::Memory& memory, int N, int k) : k_(k), free_(memory, {.name = "free"}, k) { (void)N; }

  void acquire(Process& p, Private&) {
    // What is observed in here is forgotten on return: the caller does not use it.
    [[maybe_unused]] auto frame = p.frame();
    for (;;) {
      // Every wait is an await. p["1"] labels the statement for traces.
      free_.await(p["1"], [](int f) { return f > 0; });
      p.live();  // nothing observed so far matters from here on
      const int seen = free_.read(p["2"]);
      if (seen > 0 && free_.compare_and_swap(p["3"], seen, seen - 1)) return;
      p.live();
      p.pause();  // once a round of every loop that polls
    }
  }

  void release(Process& p, Private&) {
    [[maybe_unused]] auto frame = p.frame();
    free_.fetch_add(p["4"], 1);
  }

  // What must be true in every state: empty, or what is wrong.
  template <class State>
  std::string broken_invariant(const State& s) const {
    const int inside = s.count(kgate::region::critical);
    return s.value(free_) + inside == k_ ? "" : "I1: free + inside = k";
  }

 private:
  int k_;
  typename M::template Var<int> free_;
};
