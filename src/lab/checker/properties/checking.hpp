// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How check() works, apart from what it offers: one exploration, then property after property. The files check_*.cpp
/// decide them, one kind each.

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lab/checker/explore/explorer.hpp"
#include "lab/checker/graph/graph.hpp"
#include "lab/checker/model/program.hpp"
#include "lab/checker/properties/check.hpp"
#include "lab/checker/properties/enabledness.hpp"
#include "lab/checker/properties/enabling.hpp"
#include "lab/checker/properties/fairness.hpp"
#include "lab/checker/properties/liveness.hpp"

namespace kgate::lab {

/// The processes in a set, ascending.
std::vector<int> members(process_set s);

/// How many accesses the audit of a search of so many transitions compares: a few per cent of the time of a long one,
/// and however much is useful in a short one.
std::uint64_t audited_accesses(std::uint64_t transitions);
/// Makes the audit, and leaves nothing decided if the text forgets what it uses.
void audit_text(check_result& r, program& p, const audit_options& options);

/// What a run shows that breaks the order of entering, in a sentence.
std::string out_of_order(std::string_view property, const unfair_run& run);
/// Why an order that counts from the end of a doorway says nothing where a process waits before that.
std::string waits_in_doorway(int process, bool blocked, const std::string& label);

class checking {
 public:
  checking(program& p, const check_request& request) : program_(p), request_(request), watch_(request.limits) {}

  check_result run();

 private:
  bool wants(std::string_view name) const {
    return std::find(request_.properties.begin(), request_.properties.end(), name) != request_.properties.end();
  }
  /// What the text may do that has no end, if a limit was reached: never forget, or count upwards.
  std::string likely_reason() const;
  void judge(std::string_view id);
  /// Half of the walks begin at the initial state, the others at a stored state.
  void audit_explored();
  void decide(property_result& r);

  // Verdicts.
  void undecided(property_result& r, const std::string& why);
  void violated(property_result& r, state_id s, const std::string& what, const lasso& run = {});
  void by_state(property_result& r, state_id bad, const std::string& what);
  void by_lasso(property_result& r, const liveness_result& found, const std::string& what);

  // Of single states.
  void exclusion(property_result& r);
  void distinct_names(property_result& r);
  void invariant(property_result& r);
  void local_waiting(property_result& r);
  /// A state in which `process` is at `local`, and blocked there if it awaits something; no_state if none.
  state_id state_at(int process, local_id local);

  // Progress.
  void deadlock(property_result& r);
  void deadlock_by_symmetry(property_result& r);
  void starvation(property_result& r);
  void starvation_by_symmetry(property_result& r);
  void bounded_exit(property_result& r);
  process_set movable(state_id s);
  int blocked_in_exit(state_id s);

  // Order among those that wait.
  /// k-fcfs, fife and enabled-in-order: an order that later ones must respect.
  void doorway_order(property_result& r);
  /// bounded-waiting and bounded-overtaking: how often one is overtaken by another.
  void bounded_waiting(property_result& r);
  bool fairness_decidable(property_result& r);
  bool enabledness_known();
  /// A sentence, if some process can wait before it is past its doorway.
  std::string wait_in_doorway();
  void by_completeness(property_result& r, const fairness_result& found);
  void unfair(property_result& r, const unfair_run& run, int victim);
  /// Steps of the graph as entries of a schedule.
  void append(std::vector<int>& schedule, const std::vector<int>& steps) const;

  /// The properties of Fischer et al. that speak of processes being enabled.
  void about_enabling(property_result& r);
  void finite_waiting(property_result& r);
  void fifo(property_result& r, waits_for what);

  /// A formula, by its automaton beside each state.
  void formula(property_result& r);

  /// The graph of the states explored, made when first asked for; false if a limit ended that.
  bool linked();

  program& program_;
  const check_request& request_;
  watch watch_;
  exploration explored_;
  std::unique_ptr<state_graph> graph_;
  std::unique_ptr<depths> depths_;
  std::unique_ptr<enabledness> enabled_;
  std::unique_ptr<enabling> enabling_;
  check_result result_;
};

}  // namespace kgate::lab
