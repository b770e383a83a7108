// SPDX-License-Identifier: Apache-2.0
#pragma once

/// (N,k)-exclusion as a binary tree: each node lets k through of the at most 2k that its two halves let through.
///
/// Source       Anderson & Moir 1997, figures 4 and 5; theorem 2 (figure 3's blocks), 6 (figure 8's), 10 (figure 9's).
/// Promises     those of the block, for any N > k: k-exclusion, starvation freedom with at most k-1 crashes, bounded
///              exit. A passage visits ceil(log2(N/k)) nodes of k blocks each: 7k ceil(log2(N/k)) remote references CC,
///              9k ceil(log2(N/k)) DSM, 10k ceil(log2(N/k)) DSM. For N <= k none waits.
/// Variables    those of the blocks; all blocks of the tree have distinct instance numbers
/// Invariants   at most k processes are above a node, so at most 2k are at its parent
/// Deviations   none. Read as follows: process p is number p - ceil(N/2) of the right half; a half of at most k
///              processes has no node of its own; a spinning process goes by its global number everywhere.
/// Memory model that of the block
/// Evidence     tests/algorithms/am97, tests/algorithms/am97/mutants_test (off by one in the split),
///              tests/lab/rmr_test, tests/algorithms/native (stress)

#include <memory>

#include "kgate/algorithms/am97_chain.hpp"
#include "kgate/detail/machine.hpp"

namespace kgate::am97 {

/// The node for a group of more than k processes, with the nodes of its halves.
template <class M, template <class> class Block>
class tree_node {
 public:
  using Process = typename M::Process;

  /// `next_instance` is the first free instance number, before and after.
  tree_node(typename M::Memory& memory, typename Block<M>::Shared& shared, int N, int group, int k, int& next_instance)
      : left_size_((group + 1) / 2),
        left_(half(memory, shared, N, left_size_, k, next_instance)),
        right_(half(memory, shared, N, group - left_size_, k, next_instance)),
        middle_(memory, shared, N, 2 * k, k, next_instance) {
    next_instance += k;
  }

  /// The caller is number `number` of this group.
  void acquire(Process& p, int number) {
    if (number < left_size_) {
      if (left_) left_->acquire(p, number);
    } else {
      if (right_) right_->acquire(p, number - left_size_);
    }
    middle_.acquire(p);
  }
  void release(Process& p, int number) {
    middle_.release(p);
    if (number < left_size_) {
      if (left_) left_->release(p, number);
    } else {
      if (right_) right_->release(p, number - left_size_);
    }
  }

  /// The node for a group, or none if the group needs none.
  static std::unique_ptr<tree_node> half(typename M::Memory& memory, typename Block<M>::Shared& shared, int N,
                                         int group, int k, int& next_instance) {
    if (group <= k) return nullptr;
    return std::make_unique<tree_node>(memory, shared, N, group, k, next_instance);
  }

 private:
  int left_size_;
  std::unique_ptr<tree_node> left_;
  std::unique_ptr<tree_node> right_;
  levels<M, Block> middle_;
};

template <class M, template <class> class Block>
class tree {
 public:
  using Process = typename M::Process;
  using Private = nothing_private;

  tree(typename M::Memory& memory, int N, int k, int first_instance = 0)
      : shared_(memory, N), root_(tree_node<M, Block>::half(memory, shared_, N, N, k, first_instance)) {}

  void acquire(Process& p, Private&) {
    if (root_) root_->acquire(p, p.id().value);
  }
  void release(Process& p, Private&) {
    if (root_) root_->release(p, p.id().value);
  }

 private:
  [[no_unique_address]] typename Block<M>::Shared shared_;
  std::unique_ptr<tree_node<M, Block>> root_;
};

}  // namespace kgate::am97
