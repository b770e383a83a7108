// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <bit>

#include "lab/checker/graph/local_analysis.hpp"
#include "lab/checker/properties/checking.hpp"

namespace kgate::lab {

std::string out_of_order(std::string_view property, const unfair_run& run) {
  if (property == "k-fcfs")
    return fmt::format(
        "process {} started after k others ({}) were past their doorways and got inside before any of them", run.by,
        fmt::join(members(run.overtaken), ", "));
  const int victim = std::countr_zero(run.overtaken);
  if (property == "fife" || property == "enabled-in-order")
    return fmt::format(
        "process {1} started after process {0} was past its doorway and {2}; process {0} can be kept out for ever",
        victim, run.by, property == "fife" ? "got inside" : "is enabled");
  return fmt::format("process {} gets in again and again while process {} {}", run.by, victim,
                     property == "bounded-overtaking" ? "is in its entry" : "waits and is never enabled");
}

std::string waits_in_doorway(int process, bool blocked, const std::string& label) {
  return fmt::format(
      "the doorway can wait: process {} {} at label {} before doorway_end(), so an order that begins there says "
      "nothing",
      process, blocked ? "is blocked" : "can go round a loop for ever", label);
}

void checking::doorway_order(property_result& r) {
  if (!fairness_decidable(r)) return;
  if (doorways_of(program_) == doorways::none) return undecided(r, no_doorway);
  const int threads = request_.limits.threads;
  if (r.name != "k-fcfs" && !enabledness_known()) return undecided(r, watch_.why());
  const fairness_result found = r.name == "k-fcfs" ? find_kfcfs_violation(explored_, *graph_, watch_, threads)
                                : r.name == "fife"
                                    ? find_fife_violation(explored_, *graph_, *enabled_, watch_, threads)
                                    : find_enabled_out_of_order(explored_, *graph_, *enabled_, watch_, threads);
  if (!found.found) return by_completeness(r, found);
  unfair(r, *found.found, r.name == "k-fcfs" ? -1 : std::countr_zero(found.found->overtaken));
}

void checking::bounded_waiting(property_result& r) {
  if (!fairness_decidable(r)) return;
  const bool by_letter = r.name == "bounded-overtaking";
  if (!by_letter && !enabledness_known()) return undecided(r, watch_.why());
  const waiting_result found = by_letter ? find_overtaking_bound(explored_, *graph_, *depths_, watch_)
                                         : find_waiting_bound(explored_, *graph_, *depths_, *enabled_, watch_);
  if (found.found) return unfair(r, *found.found, std::countr_zero(found.found->overtaken));
  by_completeness(r, found);
  if (r.is != verdict::holds) return;
  r.figures.emplace_back("b", found.b);
  if (found.b >= waiting_bound_max) return undecided(r, "larger bounds are not counted");
  const int passages = program_.options().passages;
  if (passages > 0 && found.b >= passages)
    undecided(r, fmt::format("with {} {} each nobody can be overtaken more often by the same process", passages,
                             passages == 1 ? "passage" : "passages"));
}

bool checking::fairness_decidable(property_result& r) {
  if (!explored_.complete)
    undecided(r, explored_.why);
  else if (request_.symmetry)
    undecided(r, "who is enabled is decided without symmetry only");
  else if (!linked())
    undecided(r, watch_.why());
  else if (explored_.store->bytes(explored_.states) + graph_->bytes() +
               fairness_bytes(*graph_, request_.limits.threads) >
           request_.limits.memory_max)
    undecided(r, "memory limit reached");
  else
    return true;
  return false;
}

bool checking::enabledness_known() {
  if (!enabled_) enabled_ = std::make_unique<enabledness>(*graph_, watch_, request_.limits.threads);
  return enabled_->complete();
}

std::string checking::wait_in_doorway() {
  if (doorways_of(program_) != doorways::marked) return "";
  for (int p = 0; p < program_.N(); ++p) {
    const std::vector<bool> may = recurrent_in_doorway(program_, p);
    bool loops = false;
    for (local_id s = 0; s < may.size(); ++s) {
      if (!may[s]) continue;
      const local_state& here = program_.local(p, s);
      if (here.op != operation::await)
        loops = true;
      else if (state_at(p, s) != no_state)
        return waits_in_doorway(p, true, here.label);
    }
    if (!loops) continue;
    const state_id endless = find_endless_doorway(explored_, *graph_, p, watch_);
    if (!watch_.why().empty()) return watch_.why();
    if (endless == no_state) continue;
    const layout& pack = explored_.table->packing();
    const auto here =
        static_cast<local_id>(pack.local[static_cast<std::size_t>(p)].get(explored_.store->record(endless)));
    return waits_in_doorway(p, false, program_.local(p, here).label);
  }
  return "";
}

void checking::by_completeness(property_result& r, const fairness_result& found) {
  if (!found.complete) return undecided(r, watch_.why());
  if (r.name != "bounded-overtaking")
    if (const std::string wait = wait_in_doorway(); !wait.empty()) return undecided(r, wait);
  r.is = verdict::holds;
}

void checking::unfair(property_result& r, const unfair_run& run, int victim) {
  violated(r, run.from, out_of_order(r.name, run));
  trace& t = *r.counterexample;
  t.victim = victim;
  if (run.loop >= 0) t.loop = static_cast<int>(t.schedule.size()) + run.loop;
  append(t.schedule, run.steps);
}

void checking::append(std::vector<int>& schedule, const std::vector<int>& steps) const {
  for (const int i : steps) schedule.push_back(scheduled(graph_->owner(i), graph_->choice(i)));
}

}  // namespace kgate::lab
