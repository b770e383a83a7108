// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The order of entering, as fairness.hpp has it, on states that are plain numbers instead of packed words: for
/// searches of their own (shifted_search). Written apart from the other, so that each is tested by the other.

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "lab/checker/graph/graph.hpp"
#include "lab/checker/properties/fairness.hpp"

namespace kgate::lab {

/// States 0, 1, ... and, of each, in which regions the processes are.
struct plain_graph {
  using vertex = state_id;
  static constexpr vertex nowhere = no_state;

  struct regions {
    process_set entry = 0, past_doorway = 0, inside = 0, exit = 0;
    process_set remainder(int N) const { return ~(entry | inside | exit) & (only(N) - 1); }
  };

  int N = 0, k = 0;
  std::vector<regions> where;      ///< of each state
  std::span<const state_id> to{};  ///< where the step of process p leads from s: to[s * N + p]

  state_id end() const { return static_cast<state_id>(where.size()); }
  bool valid(state_id) const { return true; }
  int steps() const { return N; }
  state_id next(state_id s, int p) const { return to[std::size_t{s} * static_cast<std::size_t>(N) + std::size_t(p)]; }
  bool enters(state_id s, int p, state_id t) const { return !has(where[s].inside, p) && has(where[t].inside, p); }
  bool past_doorway(state_id s, process_set who) const { return (where[s].past_doorway & who) == who; }
};

/// A state in which p cannot go on, or goes round a loop of its own, before it leaves a part of its passage.
struct stay {
  state_id at = no_state;
  bool blocked = false;
};

class plain_order {
 public:
  plain_order(const plain_graph& g, watch& w) : graph_(g), watch_(w) {}

  /// fife, enabled-in-order and k-fcfs. Runs end with the step that breaks the order.
  fairness_result out_of_order(std::string_view property);
  /// bounded-waiting, counted from the end of the waiter's doorway if there is one; or bounded-overtaking. A run is the
  /// state where it begins.
  waiting_result longest_wait(bool until_enabled, bool doorway);
  /// Where p waits before the end of its doorway; in its exit.
  std::optional<stay> stays_in_doorway(int p);
  std::optional<stay> stays_in_exit(int p);

 private:
  /// The processes in their entry that are not enabled, of each state; false if that was ended early.
  bool find_kept_out();
  template <class Overtakes, class Bad>
  std::optional<unfair_run> overtaking(process_set first, int late, Overtakes&& overtakes, Bad&& bad) const;
  template <class Blocked, class In>
  std::optional<stay> stays(int p, Blocked&& may_block, In&& in);

  const plain_graph& graph_;
  watch& watch_;
  std::vector<process_set> kept_out_;
};

}  // namespace kgate::lab
