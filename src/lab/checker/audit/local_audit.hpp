// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The systematic part of the audit: one process by itself, on the steps that its automaton is known to make.
///
/// A text that names in `live` all it uses later behaves on every such sequence of observations as the automaton does,
/// whether the other processes can bring the sequence about or not; so no difference is a false one.

#include <cstdint>
#include <random>
#include <unordered_map>
#include <vector>

#include "lab/checker/audit/audit.hpp"
#include "lab/checker/model/program.hpp"

namespace kgate::lab {

class local_audit {
 public:
  local_audit(const program& p, int process, std::mt19937_64& random, audit_result& result);

  // Each goes on until all is done or about so many accesses have been made, and stops at the first difference.

  /// Every known step once more: something outside the variables may have changed since. Predicates and functions are
  /// called predicate_repeats times on the same value, then, to the end of the passage, after every value that they
  /// were seen to refuse.
  void run_steps_again(std::uint64_t accesses_max);
  /// Every history that came to a local state which another history had reached before: by all next steps of that
  /// state, and on to the end of the passage.
  void continue_merged(std::uint64_t accesses_max);
  /// Every step that lies on a cycle: round and round, then on to the end of the passage, by every way out.
  void go_round_loops(std::uint64_t accesses_max);
  /// Random passages, begun where histories were merged.
  void walk(std::uint64_t accesses_max);

 private:
  using edge_id = std::uint32_t;
  static constexpr edge_id none = 0xFFFFFFFF;
  struct edge {
    local_id from = 0;
    code seen = 0;
    transition step;
    bool ends = false;  ///< the passage
  };
  using path = std::vector<edge_id>;
  struct within_passages;

  const local_state& local(local_id s) const { return program_.local(process_, s); }
  bool inner(const edge& e) const { return !e.step.blocked && !e.ends; }
  bool merges(const edge& e) const {
    const local_state& to = local(e.step.next);
    return inner(e) && (to.parent != e.from || to.seen != e.seen);
  }
  bool goes_on(std::uint64_t until) const { return result_.difference.empty() && result_.accesses < until; }
  edge_id edge_of(local_id from, code seen) const;
  /// The steps from the start of the passage to s.
  path way_to(local_id s) const;
  /// By the shortest way that is known, if there is one.
  void complete(path& to) const;
  void find_completions();
  void find_components();
  /// The steps of a cycle that begins with e.
  path cycle_from(edge_id e) const;
  path round_and_round(const path& cycle) const;
  std::vector<edge_id> shuffled() const;

  /// Runs the text on the path and notes the first difference. Predicates and functions are called once or a few times
  /// in turn, whatever comes next.
  void compare(const path& along);
  void compare(const path& along, const checker_machine::calling& calls);
  /// For each step of the path the values that its await refused, as far as known.
  void note_refused(const path& along);
  std::string difference_at(std::size_t i, const edge& e, const checker_machine::made* text,
                            const program::outcome& after) const;

  const program& program_;
  const int process_;
  std::mt19937_64& random_;
  audit_result& result_;
  std::vector<edge> edges_;
  std::unordered_map<std::uint64_t, edge_id> numbers_;
  std::vector<std::vector<edge_id>> out_;
  std::vector<edge_id> toward_end_;         // of each local state: the first step to the end of the passage
  std::vector<std::uint32_t> component_;    // of each local state, by steps within the passage
  std::vector<std::vector<code>> refused_;  // by local state: on which values its await goes on waiting
  std::vector<code> history_;
  std::vector<const std::vector<code>*> refused_on_way_;
  std::vector<checker_machine::made> made_;
  std::size_t compared_ = 0;
};

/// Whether an access of the text is that of the automaton, made in the same local state.
bool audit_agrees(const checker_machine::made& text, const local_state& at, const transition& step);
/// "process 1 makes write X := 1 at 5, its automaton makes read Y at 6"; `text` is null if the text makes no access.
std::string audit_difference(const program& p, int process, const local_state& at, const transition& step,
                             const checker_machine::made* text, const program::outcome& after);
/// The same for where the text stands after its last access; empty if that is the state `at`.
std::string audit_difference(const program& p, int process, const local_state& at, const program::outcome& after);

}  // namespace kgate::lab
