// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Starvation decided on states reduced by symmetry.
///
/// A reduced state stands for all its renamings, so a cycle of reduced states need not be a cycle of real ones: going round it
/// may exchange processes, and "every process steps" cannot be read off the steps alone. So each step of the reduced graph
/// carries the renaming that led to the reduced form of its target. A vertex of the search is a reduced state with its victim
/// and its crashed processes marked; marks are renamed along the steps like everything else.
///
/// Take a strongly connected component of this graph and give every member the names of one of them, the root, along some way
/// through the component. Two ways to one member may disagree by a permutation; the permutations of all such pairs generate a
/// group, and a real run that goes round the component can be led so that each process takes in turn every part in its orbit
/// under this group. So the component carries a fair run, in which the victim stays for ever, exactly if in every orbit of
/// processes not crashed there is one that somewhere takes a step in the component, or somewhere is not obliged to.
/// (Emerson and Sistla decide fairness under symmetry in this way.)

#include <cstdint>
#include <vector>

#include "lab/checker/graph.hpp"
#include "lab/checker/liveness.hpp"
#include "lab/checker/permutation.hpp"

namespace kgate::lab {

class quotient_graph {
 public:
  /// `e` must have been explored with symmetry. `w` may end it early; then complete() is false.
  quotient_graph(exploration& e, watch& w, const run_limits& limits);

  bool complete() const { return complete_; }
  int N() const { return N_; }
  state_id end() const { return end_; }
  int steps() const { return N_ * choices_; }
  int owner(int i) const { return i / choices_; }
  int choice(int i) const { return i % choices_; }
  int choices() const { return choices_; }
  /// The reduced form of where step i leads from s; no_state if there is no such step.
  state_id next(state_id s, int i) const { return next_[at(s, i)]; }
  /// Process p of s is process renamed(s, i)(p) of next(s, i).
  permutation renamed(state_id s, int i) const { return permutations_[by_[at(s, i)]]; }
  process_set obliged(state_id s) const { return obliged_[s]; }
  /// As state_graph::may_stay.
  process_set may_stay(state_id s) const { return stays_[s]; }
  std::uint64_t bytes() const;

 private:
  template <unsigned W>
  void fill(exploration& e, std::size_t thread, std::size_t threads, watch& w);
  std::size_t at(state_id s, int i) const { return std::size_t{s} * static_cast<std::size_t>(steps()) + static_cast<std::size_t>(i); }

  int N_;
  int choices_;
  state_id end_;
  bool complete_ = true;
  std::vector<permutation> permutations_;  // in order of their bits
  std::vector<std::vector<bool>> recurrent_;
  reserved_memory next_memory_, by_memory_, mask_memory_;
  state_id* next_ = nullptr;
  std::uint16_t* by_ = nullptr;
  std::uint8_t* obliged_ = nullptr;
  std::uint8_t* stays_ = nullptr;
};

/// As find_starvation on the graph of all states. The names in the lasso are those of the reduced state `entry`.
liveness_result find_starvation(const quotient_graph& g, const depths& d, int crashes, watch& w, const run_limits& limits,
                                std::uint64_t bytes_used);

}  // namespace kgate::lab
