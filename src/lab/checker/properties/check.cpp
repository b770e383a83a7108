// SPDX-License-Identifier: Apache-2.0
#include "lab/checker/properties/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <new>
#include <random>
#include <stdexcept>

#include "lab/checker/claims/formula.hpp"
#include "lab/checker/explore/symmetry.hpp"
#include "lab/checker/properties/checking.hpp"
#include "lab/checker/trace/way.hpp"

namespace kgate::lab {

namespace {

/// More than the texts of the catalogue come to at the sizes that can be explored.
constexpr int unforgotten_suspicious = 300;
constexpr std::size_t values_suspicious = 16;

}  // namespace

std::uint64_t audited_accesses(std::uint64_t transitions) {
  return std::max(std::clamp<std::uint64_t>(transitions / 2, 200'000, 1'000'000), transitions / 8);
}

void audit_text(check_result& r, program& p, const audit_options& options) {
  try {
    r.audit = audit(p, options);
  } catch (const std::bad_alloc&) {  // the verdicts stand, and the result says that no audit was made
    r.audit = {};
  }
  if (r.audit.difference.empty()) return;
  r.why = fmt::format("the text forgets what it uses (live, frame): {}", r.audit.difference);
  for (property_result& one : r.properties) {
    one.is = verdict::undecided;
    one.why = r.why;
    one.within_passages = one.within_contention = 0;
    one.counterexample.reset();
    one.figures.clear();
  }
}

std::vector<int> members(process_set s) {
  std::vector<int> all;
  for (int p = 0; p < graph_processes_max; ++p)
    if (has(s, p)) all.push_back(p);
  return all;
}

check_result checking::run() {
  if (request_.symmetry && program_.options().first_more > 0)
    throw std::invalid_argument("processes that make different numbers of passages are not alike: no symmetry");
  explore_options options;
  options.crashes = request_.crashes;
  options.contention = request_.contention;
  options.symmetry = request_.symmetry;
  options.find_exclusion = wants("k-exclusion");
  options.find_names = wants("distinct-names");
  options.find_broken_invariant = wants("invariant") && program_.has_invariant();
  try {
    explored_ = explore(program_, options, request_.limits);
  } catch (const std::bad_alloc&) {  // not even the tables fit
    return nothing_decided(request_, "memory limit reached" + likely_reason());
  }
  if (!explored_.complete && explored_.exclusion == no_state && explored_.names == no_state)
    explored_.why += likely_reason();
  if (request_.symmetry) canonical_form(*explored_.table).complete_automata();
  for (const property& one : properties())
    if (wants(one.id)) judge(one.id);
  for (const std::string& name : request_.properties)
    if (parse_formula_property(name)) judge(name);
  result_.request = request_;
  result_.states = explored_.states;
  result_.transitions = explored_.transitions;
  result_.orbit_states = explored_.orbit_states;
  result_.explore_seconds = explored_.seconds;
  result_.bytes_per_state = explored_.bytes_per_state();
  result_.complete = explored_.complete;
  result_.why = explored_.why;
  result_.reached = coverage_of(program_);
  audit_explored();
  result_.seconds = watch_.seconds();
  return std::move(result_);
}

std::string checking::likely_reason() const {
  for (int p = 0; p < program_.N(); ++p)
    if (const auto [accesses, label] = program_.longest_memory(p); accesses > unforgotten_suspicious)
      return fmt::format(
          "; process {} has observed {} values in a passage without forgetting any, at label {}: does a loop "
          "there lack live(...)?",
          p, accesses, label);
  if (program_.options().passages > 0) return "";
  int most = 0;
  for (int v = 1; v < program_.variables(); ++v)
    if (program_.variable(v).values.size() > program_.variable(most).values.size()) most = v;
  const std::size_t values = program_.variable(most).values.size();
  if (values < values_suspicious) return "";
  return fmt::format("; variable {} has taken {} values so far: if it grows without bound, limit the passages",
                     program_.variable(most).name, values);
}

void checking::judge(std::string_view id) {
  property_result& r = result_.properties.emplace_back();
  r.name = id;
  try {
    decide(r);
  } catch (const std::bad_alloc&) {
    undecided(r, "memory limit reached");
    graph_.reset();
    depths_.reset();
    enabled_.reset();
    enabling_.reset();
  }
  if (r.is == verdict::holds) {
    r.within_passages = program_.options().passages;
    r.within_contention = request_.contention < program_.N() ? request_.contention : 0;
  }
  const bool in_a_state = r.name == "k-exclusion" || r.name == "distinct-names" || r.name == "invariant";
  if (program_.stopped_early() && !(in_a_state && r.is == verdict::violated)) {
    undecided(r, fmt::format("a passage makes more than {} accesses", program_.options().remember_accesses));
    r.within_passages = r.within_contention = 0;
    r.counterexample.reset();
  }
}

void checking::audit_explored() {
  audit_options options;
  options.seed = request_.seed;
  options.accesses = audited_accesses(explored_.transitions);
  options.invariant_holds =
      explored_.complete && wants("invariant") && program_.has_invariant() && explored_.broken_invariant == no_state;
  const std::vector<id_range> used = explored_.used();
  options.start = [&](std::mt19937_64& random) {
    const id_range& range = used[random() % used.size()];
    try {
      return way_to(explored_, range.begin + static_cast<state_id>(random() % (range.end - range.begin)),
                    request_.symmetry)
          .schedule;
    } catch (const overflow&) {  // with other names it needs a local state that the tables have no room for
      return std::vector<int>{};
    }
  };
  audit_text(result_, program_, options);
}

void checking::decide(property_result& r) {
  using decision = void (checking::*)(property_result&);
  static const std::map<std::string_view, decision> how{{"k-exclusion", &checking::exclusion},
                                                        {"distinct-names", &checking::distinct_names},
                                                        {"invariant", &checking::invariant},
                                                        {"local-waiting", &checking::local_waiting},
                                                        {"deadlock-free", &checking::deadlock},
                                                        {"starvation-free", &checking::starvation},
                                                        {"bounded-exit", &checking::bounded_exit},
                                                        {"k-fcfs", &checking::doorway_order},
                                                        {"fife", &checking::doorway_order},
                                                        {"enabled-in-order", &checking::doorway_order},
                                                        {"bounded-waiting", &checking::bounded_waiting},
                                                        {"finite-waiting", &checking::about_enabling},
                                                        {"finite-enabling", &checking::about_enabling},
                                                        {"bounded-overtaking", &checking::bounded_waiting},
                                                        {"fifo", &checking::about_enabling},
                                                        {"l-full", &checking::about_enabling},
                                                        {"l-queuelike", &checking::about_enabling},
                                                        {"fifo-enabling", &checking::about_enabling},
                                                        {"kl-deadlock-free", &checking::about_enabling}};
  if (parse_formula_property(r.name)) return formula(r);
  (this->*how.at(r.name))(r);
}

void checking::undecided(property_result& r, const std::string& why) {
  r.is = verdict::undecided;
  r.why = why;
}

void checking::violated(property_result& r, state_id s, const std::string& what, const lasso& run) {
  r.is = verdict::violated;
  trace t;
  t.of = request_.of;
  t.property = r.name;
  t.what = what;
  const way to = way_to(explored_, s, request_.symmetry);
  t.schedule = to.schedule;
  t.victim = run.victim < 0 ? run.victim : to.called(run.victim);
  t.crashed = members(to.called.of_set(run.crashed));
  if (!run.cycle.empty()) {
    t.loop = static_cast<int>(t.schedule.size());
    for (const int i : run.cycle) {
      const auto choices = static_cast<int>(explored_.table->steps_max());
      t.schedule.push_back(scheduled(to.called(i / choices), i % choices));
    }
  }
  r.counterexample = std::move(t);
}

void checking::by_state(property_result& r, state_id bad, const std::string& what) {
  if (bad != no_state) return violated(r, bad, what);
  if (!explored_.complete) return undecided(r, explored_.why);
  r.is = verdict::holds;
}

void checking::by_lasso(property_result& r, const liveness_result& found, const std::string& what) {
  if (found.found) return violated(r, found.found->entry, what, *found.found);
  if (!found.complete) return undecided(r, watch_.why());
  r.is = verdict::holds;
}

bool checking::linked() {
  if (!graph_) {
    graph_ = std::make_unique<state_graph>(explored_, watch_, request_.limits);
    depths_ = std::make_unique<depths>(explored_);
  }
  return graph_->complete();
}

check_result nothing_decided(const check_request& request, const std::string& why) {
  check_result r;
  r.request = request;
  r.why = why;
  for (const std::string& name : request.properties) {
    property_result& one = r.properties.emplace_back();
    one.name = name;
    one.why = why;
  }
  return r;
}

check_result rules_broken(const check_request& request, const std::string& why) {
  check_result r = nothing_decided(request, why);
  r.breaks_rules = true;
  return r;
}

check_result check(program& p, const check_request& request) {
  try {
    return checking(p, request).run();
  } catch (const text_error& e) {
    return rules_broken(request, e.what());
  }
}

}  // namespace kgate::lab
