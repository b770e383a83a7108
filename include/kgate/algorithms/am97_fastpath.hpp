// SPDX-License-Identifier: Apache-2.0
#pragma once

/// (N,k)-exclusion with a fast path: one that finds it free skips the slow path, which is a tree or, nested, again a
/// fast path in front of a slow one.
///
/// Source       Anderson & Moir 1997, figures 6 and 7; over the tree: theorem 3 (figure 3's blocks), 7 (figure 8's), 11
///              (figure 9's); nested: theorems 4, 8 and 12.
/// Promises     those of the block, for any N > k: k-exclusion, starvation freedom with at most k-1 crashes, bounded
///              exit. With b remote references a block (7 CC; 9 or 10 DSM): over the tree b+2 alone and at most
///              bk ceil(log2(N/k)) + b+1; nested (b+1)c + 1 at contention c. Primitives: test-and-set and the block's.
///              For N <= k none waits.
/// Variables    X     boolean  one is on the fast path        initially false; in traces fast.X; nested: one a level
///              slow  private  path taken; nested: how many fast paths were found taken
///              and those of the blocks
/// Invariants   X is false or exactly one process is on the fast path; so at most N-1 are on the slow path, and at most
///              k+1 at the block behind both
/// Deviations   D1  for N = k+1 there is only the block, without a fast path in front: nothing would be left to skip
///              D2  the slow path's tree has leaves for N processes though at most N-1 are in it at a time: which one
///                  is not there changes, and a leaf belongs to a process number. The paper's bound counts the tree of
///                  N.
/// Memory model that of the block; X needs no order of its own
/// Evidence     tests/algorithms/am97, tests/algorithms/am97/mutants_test (early release of the fast path),
///              tests/lab/rmr_test, tests/algorithms/native (stress)

#include <algorithm>
#include <cstddef>
#include <memory>

#include "kgate/algorithms/am97_chain.hpp"
#include "kgate/algorithms/am97_tree.hpp"
#include "kgate/detail/fixed_array.hpp"
#include "kgate/detail/machine.hpp"

namespace kgate::am97 {

template <class M, template <class> class Block>
class fastpath_tree {
 public:
  using Process = typename M::Process;
  struct Private {
    bool slow = false;
  };

  fastpath_tree(typename M::Memory& memory, int N, int k) : fastpath_tree(memory, N, k, 1) {}

  void acquire(Process& p, Private& mine) {
    if (slow_path_) {
      mine.slow = X.test_and_set(p["1"]);
      if (mine.slow) slow_path_->acquire(p, p.id().value);  // 2
    }
    block_.acquire(p);  // 3
  }

  void release(Process& p, Private& mine) {
    block_.release(p);  // 5
    if (slow_path_) {
      if (mine.slow)  // 6
        slow_path_->release(p, p.id().value);
      else
        X.write(p["7"], false);
    }
  }

 private:
  fastpath_tree(typename M::Memory& memory, int N, int k, int next_instance)
      : shared_(memory, N),
        X(memory, {.name = "fast.X"}, false),
        slow_path_(tree_node<M, Block>::half(memory, shared_, N, N > k + 1 ? N : 0, k, next_instance)),
        block_(memory, shared_, N, std::min(N, k + 1), k, 0) {}

  [[no_unique_address]] typename Block<M>::Shared shared_;
  typename M::template Var<bool> X;
  std::unique_ptr<tree_node<M, Block>> slow_path_;  // none for N <= k+1
  levels<M, Block> block_;                          // one block, none for N <= k
};

/// The recursion of figure 7 written as a loop: X[i] and blocks_[i] are those of Acquire(N-i, k), and blocks_[N-k-1] is
/// the base, Acquire(k+1, k).
template <class M, template <class> class Block>
class fastpath_nested {
 public:
  using Process = typename M::Process;
  struct Private {
    int slow = 0;
  };

  fastpath_nested(typename M::Memory& memory, int N, int k)
      : shared_(memory, N),
        X(static_cast<std::size_t>(std::max(N - k - 1, 0)),
          [&](std::size_t i) {
            return typename M::template Var<bool>(memory, {.name = "fast.X", .instance = static_cast<int>(i)}, false);
          }),
        blocks_(static_cast<std::size_t>(std::max(N - k, 0)),
                [&](std::size_t i) { return Block<M>(memory, shared_, N, k, static_cast<int>(i)); }) {}

  void acquire(Process& p, Private& mine) {
    mine.slow = 0;
    while (level(mine) < X.size() && X[level(mine)].test_and_set(p["1"])) ++mine.slow;  // 2: one level further in
    if (blocks_.size() == 0) return;
    for (std::size_t i = level(mine) + 1; i > 0; --i) blocks_[i - 1].acquire(p);  // 3 of each level, from within
  }

  void release(Process& p, Private& mine) {
    if (blocks_.size() == 0) return;
    for (std::size_t i = 0; i <= level(mine); ++i) blocks_[i].release(p);  // 5 and 6 of each level
    if (level(mine) < X.size()) X[level(mine)].write(p["7"], false);
  }

 private:
  static std::size_t level(const Private& mine) { return static_cast<std::size_t>(mine.slow); }

  [[no_unique_address]] typename Block<M>::Shared shared_;
  fixed_array<typename M::template Var<bool>> X;
  fixed_array<Block<M>> blocks_;
};

}  // namespace kgate::am97
