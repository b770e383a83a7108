// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The graph of states reduced by symmetry, and why starvation can be decided on it (properties/quotient_search.cpp).
///
/// A reduced state stands for all its renamings, so a cycle of reduced states need not be a cycle of real ones: going
/// round it may exchange processes, and "every process steps" cannot be read off the steps alone. So each step of the
/// reduced graph carries the renaming that led to the reduced form of its target. A vertex of the search is a reduced
/// state with its victim and its crashed processes marked; marks are renamed along the steps like everything else.
///
/// Take a strongly connected component of this graph and give every member the names of one of them, the root, along
/// some way through the component. Two ways to one member may disagree by a permutation; the permutations of all such
/// pairs generate a group, and a real run that goes round the component can be led so that each process takes in turn
/// every part in its orbit under this group. So the component carries a fair run, in which the victim stays for ever,
/// exactly if in every orbit of processes not crashed there is one that somewhere takes a step in the component, or
/// somewhere is not obliged to. (Emerson and Sistla decide fairness under symmetry in this way.)
///
/// Only states in which some process can be a victim, since it can stay where it is for ever, have vertices: a fraction
/// of all. They are the rows of the graph, numbered in the order of the store; nothing is kept of the others.

#include <cstdint>
#include <vector>

#include "lab/checker/graph/graph.hpp"
#include "lab/checker/model/permutation.hpp"

namespace kgate::lab {

class quotient_graph {
 public:
  /// `e` must have been explored with symmetry. `w` may end it early; then complete() is false.
  quotient_graph(exploration& e, watch& w, const run_limits& limits);

  bool complete() const { return complete_; }
  int N() const { return N_; }
  /// How many rows there are.
  std::uint32_t end() const { return static_cast<std::uint32_t>(states_.size()); }
  /// The number of row r in the store.
  state_id state(std::uint32_t r) const { return states_[r]; }
  int steps() const { return N_ * choices_; }
  int owner(int i) const { return i / choices_; }
  int choice(int i) const { return i % choices_; }
  int choices() const { return choices_; }
  /// The row of the reduced form of where step i leads from r; no_state if there is no such step, or no row.
  std::uint32_t next(std::uint32_t r, int i) const { return next_[at(r, i)]; }
  /// Process p of r is process renamed(r, i)(p) of next(r, i).
  permutation renamed(std::uint32_t r, int i) const { return permutations_[by_[at(r, i)]]; }
  process_set obliged(std::uint32_t r) const { return obliged_[r]; }
  /// As state_graph::may_stay.
  process_set may_stay(std::uint32_t r) const { return stays_[r]; }
  /// The permutations of the processes are numbered.
  permutation permutation_at(std::uint16_t i) const { return permutations_[i]; }
  std::uint16_t index_of(permutation p) const;
  std::uint64_t bytes() const;

 private:
  template <unsigned W>
  void fill(exploration& e, std::size_t thread, std::size_t threads, watch& w);
  std::uint32_t row_of(state_id s) const;
  std::size_t at(std::uint32_t r, int i) const {
    return std::size_t{r} * static_cast<std::size_t>(steps()) + static_cast<std::size_t>(i);
  }

  int N_;
  int choices_;
  bool complete_ = true;
  std::vector<permutation> permutations_;  // in order of their bits
  std::vector<state_id> states_;           // in order
  std::vector<std::uint8_t> stays_;
  std::vector<std::uint32_t> before_;  // [block of states]: how many rows come before it
  reserved_memory next_memory_, by_memory_, mask_memory_;
  std::uint32_t* next_ = nullptr;
  std::uint16_t* by_ = nullptr;
  std::uint8_t* obliged_ = nullptr;
};

}  // namespace kgate::lab
