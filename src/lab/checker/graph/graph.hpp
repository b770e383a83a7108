// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The explored states as a graph: which steps lead where, which processes must move, which are in which region.
/// Properties of infinite runs are decided on it.

#include <cstdint>
#include <string>
#include <vector>

#include "lab/checker/explore/explorer.hpp"

namespace kgate::lab {

/// A set of processes, one bit each.
using process_set = std::uint32_t;
inline constexpr int graph_processes_max = 32;

constexpr process_set only(int p) { return process_set{1} << p; }
constexpr bool has(process_set s, int p) { return (s >> p & 1) != 0; }

class state_graph {
 public:
  using vertex = state_id;
  static constexpr vertex nowhere = no_state;

  /// Needs N + 3 words a state beside the store. `w` may end it early; then complete() is false.
  state_graph(exploration& e, watch& w, const run_limits& limits);

  bool complete() const { return complete_; }
  int N() const { return N_; }
  state_id end() const { return end_; }

  /// A process has one step in a state, or several when it reads a safe register during a write. Step i is of process
  /// owner(i).
  int steps() const { return N_ * choices_; }
  int owner(int i) const { return i / choices_; }
  int choice(int i) const { return i % choices_; }
  /// The first of p's steps: p has none in s if this one leads nowhere.
  int first(int p) const { return p * choices_; }
  /// Where step i leads from s; no_state if there is none (blocked, or all passages made).
  state_id next(state_id s, int i) const { return next_[std::size_t{s} * static_cast<std::size_t>(steps()) + i]; }
  /// Processes outside their remainder that have a step: fairness obliges them to take it in the end.
  process_set obliged(state_id s) const { return obliged_[s]; }
  process_set in_entry(state_id s) const { return entry_[s]; }
  process_set in_exit(state_id s) const { return exit_[s]; }
  /// Processes in their entry at a location where one can stay for ever: an await, or a loop. One that stays in its
  /// entry without stopping comes to stand or go round at such locations, whatever the others do.
  process_set may_stay(state_id s) const { return stays_[s]; }
  /// Processes with a step from s that enters the critical section.
  process_set enters(state_id s) const { return enters_[s]; }
  /// Does step i of s, which exists, enter the critical section?
  bool enters(state_id s, int i) const { return has(enters_[s], owner(i)) && !has(entry_[next(s, i)], owner(i)); }
  bool valid(state_id s) const { return valid_[s] != 0; }
  std::uint64_t bytes() const;

 private:
  template <unsigned W>
  void fill(exploration& e, const std::vector<id_range>& pieces, std::size_t from, std::size_t step, watch& w);

  int N_;
  int choices_;
  state_id end_;
  bool complete_ = true;
  reserved_memory next_memory_, mask_memory_;
  state_id* next_ = nullptr;
  process_set* obliged_ = nullptr;
  process_set* entry_ = nullptr;
  process_set* exit_ = nullptr;
  process_set* enters_ = nullptr;
  process_set* stays_ = nullptr;
  std::vector<std::vector<bool>> recurrent_;  // [p][local state]
  std::vector<std::uint8_t> valid_;
};

/// The number of steps from the initial state to s, by the levels of the exploration.
class depths {
 public:
  explicit depths(const exploration& e);
  std::uint32_t of(state_id s) const;

 private:
  struct piece {
    id_range range;
    std::uint32_t level;
  };
  std::vector<piece> pieces_;
};

}  // namespace kgate::lab
