// SPDX-License-Identifier: Apache-2.0
#pragma once

/// (N,k)-exclusion as N-k nested blocks: the outermost lets N-1 through, the next N-2, the innermost k.
///
/// Source       Anderson & Moir 1997, section 4.1 (theorem 1), 4.3 (theorem 5), 4.4 (theorem 9): the induction of
///              figures 3, 8 and 9 written as a loop.
/// Promises     those of the block, for any N > k: k-exclusion, starvation freedom with at most k-1 crashes, bounded
///              exit; N-k times the block's remote references: 7(N-k) CC, 9(N-k) DSM, 10(N-k) DSM. For N <= k none
///              waits.
/// Variables    those of N-k blocks, and what the blocks share
/// Invariants   at most m processes are between block m+1 and block m (I1 of the paper, at every level)
/// Deviations   none
/// Memory model that of the block
/// Evidence     tests/algorithms/am97, tests/lab/rmr_test

#include <cstddef>

#include "kgate/detail/fixed_array.hpp"
#include "kgate/detail/machine.hpp"

namespace kgate::am97 {

/// A run of blocks that takes at most `from` processes down to `to`: the building block of the other shapes as well.
template <class M, template <class> class Block>
class levels {
 public:
  using Process = typename M::Process;

  /// The blocks take the instance numbers from first_instance on.
  levels(typename M::Memory& memory, typename Block<M>::Shared& shared, int N, int from, int to, int first_instance = 0)
      : blocks_(from > to ? static_cast<std::size_t>(from - to) : 0, [&](std::size_t i) {
          return Block<M>(memory, shared, N, from - 1 - static_cast<int>(i), first_instance + static_cast<int>(i));
        }) {}

  void acquire(Process& p) {
    for (std::size_t i = 0; i < blocks_.size(); ++i) blocks_[i].acquire(p);
  }
  void release(Process& p) {
    for (std::size_t i = blocks_.size(); i > 0; --i) blocks_[i - 1].release(p);
  }

  bool has_invariant() const { return blocks_.size() == 1; }
  template <class State>
  const char* broken_invariant(const State& s) const {
    return blocks_[0].broken_invariant(s);
  }

 private:
  fixed_array<Block<M>> blocks_;
};

template <class M, template <class> class Block>
class chain {
 public:
  using Process = typename M::Process;
  using Private = nothing_private;

  chain(typename M::Memory& memory, int N, int k) : shared_(memory, N), levels_(memory, shared_, N, N, k) {}

  void acquire(Process& p, Private&) { levels_.acquire(p); }
  void release(Process& p, Private&) { levels_.release(p); }

  /// The paper's invariants speak of one block; where there are more, labels do not tell in which a process is.
  bool has_invariant() const { return levels_.has_invariant(); }
  template <class State>
  const char* broken_invariant(const State& s) const {
    return levels_.broken_invariant(s);
  }

 private:
  [[no_unique_address]] typename Block<M>::Shared shared_;
  levels<M, Block> levels_;
};

}  // namespace kgate::am97
