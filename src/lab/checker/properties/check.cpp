// SPDX-License-Identifier: Apache-2.0
#include "lab/checker/properties/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <nlohmann/json.hpp>

#include "kgate/detail/contracts.hpp"
#include "lab/checker/explore/symmetry.hpp"
#include "lab/checker/graph/graph.hpp"
#include "lab/checker/graph/quotient.hpp"
#include "lab/checker/model/local_analysis.hpp"
#include "lab/checker/properties/enabling.hpp"
#include "lab/checker/properties/fairness.hpp"
#include "lab/checker/properties/liveness.hpp"
#include "lab/checker/properties/stuck_waits.hpp"

namespace kgate::lab {

namespace {

std::vector<int> members(process_set s) {
  std::vector<int> all;
  for (int p = 0; p < graph_processes_max; ++p)
    if (has(s, p)) all.push_back(p);
  return all;
}

/// The way from the initial state to a stored one: who steps, and, with symmetry, how the stored state's processes are
/// called in the state the way leads to (a stored state is then a renaming of it).
struct way {
  std::vector<int> schedule;
  permutation called;
};

/// With symmetry the way is walked forwards, and each step is recognised by its reduced form.
way way_to(exploration& e, state_id s, bool symmetry) {
  std::vector<state_id> path;
  for (; s != no_state; s = e.store->parent(s)) path.push_back(s);
  std::reverse(path.begin(), path.end());
  way found;
  with_words(e.store->words(), [&]<unsigned W>() {
    std::unique_ptr<canonical_form> canonical = symmetry ? std::make_unique<canonical_form>(*e.table) : nullptr;
    std::uint64_t here[W], reduced[W];
    e.table->initial_state(here);
    for (std::size_t i = 1; i < path.size(); ++i) {
      std::uint64_t from[W];
      std::copy_n(here, W, from);
      int mover = -1;
      for_each_step<W>(
          *e.table, no_observer{}, e.contention, from,
          [&](const step& it, const std::uint64_t* to) {
            if (mover >= 0) return;
            std::copy_n(to, W, reduced);
            if (canonical) canonical->reduce(reduced);
            if (!std::equal(reduced, reduced + W, e.store->record(path[i]))) return;
            mover = scheduled(it.p, it.choice);
            std::copy_n(to, W, here);
          },
          [](const step&) {});
      KGATE_EXPECTS(mover >= 0, "a stored state is not a successor of its parent");
      found.schedule.push_back(mover);
    }
    std::copy_n(here, W, reduced);
    if (canonical) found.called = canonical->reduce(reduced).inverse();
  });
  return found;
}

/// More than the texts of the catalogue come to at the sizes that can be explored.
constexpr int unforgotten_suspicious = 300;
constexpr std::size_t values_suspicious = 16;

/// One check: explores once, then decides property after property on what was found.
class checking {
 public:
  checking(program& p, const check_request& request) : program_(p), request_(request), watch_(request.limits) {}

  check_result run() {
    if (request_.symmetry && program_.options().first_more > 0)
      throw std::invalid_argument("processes that make different numbers of passages are not alike: no symmetry");
    explore_options options;
    options.crashes = request_.crashes;
    options.contention = request_.contention;
    options.symmetry = request_.symmetry;
    options.find_exclusion = wants("k-exclusion");
    options.find_names = wants("distinct-names");
    options.find_broken_invariant = wants("invariant") && program_.has_invariant();
    explored_ = explore(program_, options, request_.limits);
    if (!explored_.complete && explored_.exclusion == no_state && explored_.names == no_state)
      explored_.why += likely_reason();
    if (request_.symmetry) canonical_form(*explored_.table).complete_automata();
    for (const property& one : properties())
      if (wants(one.id)) judge(one);
    result_.asked = request_;
    result_.states = explored_.states;
    result_.transitions = explored_.transitions;
    result_.orbit_states = explored_.orbit_states;
    result_.explore_seconds = explored_.seconds;
    result_.bytes_per_state = explored_.bytes_per_state();
    result_.complete = explored_.complete;
    result_.why = explored_.why;
    audit_text();
    result_.seconds = watch_.seconds();
    return std::move(result_);
  }

 private:
  bool wants(std::string_view name) const {
    return std::find(request_.properties.begin(), request_.properties.end(), name) != request_.properties.end();
  }

  /// What the text may do that has no end, if a limit was reached: never forget, or count upwards.
  std::string likely_reason() const {
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

  void judge(const property& one) {
    property_result& r = result_.properties.emplace_back();
    r.name = one.id;
    decide(r);
    const int passages = program_.options().passages;
    if (r.is == verdict::holds && one.refuted_by == refutation::infinite) r.within_passages = passages;
    const bool in_a_state = r.name == "k-exclusion" || r.name == "distinct-names" || r.name == "invariant";
    if (program_.stopped_early() && !(in_a_state && r.is == verdict::violated)) {
      undecided(r, fmt::format("a passage makes more than {} accesses", program_.options().remember_accesses));
      r.within_passages = 0;
      r.counterexample.reset();
    }
  }

  /// Half of the walks begin at the initial state, the others at a stored state.
  void audit_text() {
    audit_options options;
    options.walks = 4;
    options.steps = 1000;
    options.seconds = watch_.seconds() * request_.audit_share / (1 - request_.audit_share);
    const std::vector<id_range> used = explored_.used();
    options.start = [&](std::mt19937_64& random) {
      const id_range& range = used[random() % used.size()];
      return way_to(explored_, range.begin + static_cast<state_id>(random() % (range.end - range.begin)),
                    request_.symmetry)
          .schedule;
    };
    result_.audit = audit(program_, options);
    if (result_.audit.difference.empty()) return;
    for (property_result& r : result_.properties) {
      undecided(r, fmt::format("the text forgets what it uses (live, frame): {}", result_.audit.difference));
      r.within_passages = 0;
      r.counterexample.reset();
      r.figures.clear();
    }
  }

  void decide(property_result& r) {
    const std::string& name = r.name;
    if (name == "k-exclusion") {
      by_state(r, explored_.exclusion, fmt::format("more than {} processes are inside", program_.k()));
    } else if (name == "distinct-names") {
      by_state(r, explored_.names, "two processes inside hold the same name, or one not below k");
    } else if (name == "invariant") {
      invariant(r);
    } else if (name == "deadlock-free") {
      deadlock(r);
    } else if (name == "starvation-free") {
      starvation(r);
    } else if (name == "bounded-exit") {
      bounded_exit(r);
    } else if (name == "k-fcfs" || name == "fife") {
      doorway_order(r);
    } else if (name == "bounded-waiting") {
      bounded_waiting(r);
    } else if (name == "l-full" || name == "l-queuelike" || name == "fifo-enabling" || name == "kl-deadlock-free") {
      about_enabling(r);
    }
  }

  void invariant(property_result& r) {
    if (!program_.has_invariant())
      return undecided(r, "not applicable: the algorithm's text has no invariant beside it");
    const state_id bad = explored_.broken_invariant;
    by_state(r, bad, bad == no_state ? "" : broken_invariant(*explored_.table, explored_.store->record(bad)));
  }

  /// The properties of Fischer et al. that speak of processes being enabled.
  void about_enabling(property_result& r) {
    if (request_.of.safe_registers) return undecided(r, "decided on atomic registers only");
    if (explored_.exclusion != no_state) return by_state(r, explored_.exclusion, "more than k processes are inside");
    if (!explored_.complete) return undecided(r, explored_.why);
    if (!linked()) return undecided(r, watch_.why());
    if (graph_->steps() != graph_->N()) return undecided(r, "decided for atomic registers only");
    if (!enabling_) enabling_ = std::make_unique<enabling>(explored_, *graph_, watch_);
    if (!enabling_->complete()) return undecided(r, watch_.why());
    if (r.name == "kl-deadlock-free")
      return by_lasso(r, find_group_deadlock(*graph_, *depths_, *enabling_, program_.k(), request_.crashes, watch_),
                      "nobody changes regions any more although a place is neither taken nor allocated");
    r.is = verdict::holds;
    if (r.name == "l-queuelike")
      if (const state_id s = find_exit_region(*graph_, *depths_); s != no_state)
        return violated(r, s, "the exit takes more than one step");
    if (r.name != "fifo-enabling")
      if (const state_id s = find_not_full(*graph_, *depths_, *enabling_, program_.k()); s != no_state)
        return violated(r, s,
                        "the number of enabled processes is not that of the free places, or of those in their entry");
    if (r.name != "l-full") fifo_enabling(r);
  }

  void fifo_enabling(property_result& r) {
    const std::optional<overtaking> found = find_overtaking(*graph_, *depths_, *enabling_, watch_);
    if (!found) {
      if (!watch_.why().empty()) undecided(r, watch_.why());
      return;
    }
    lasso run;
    run.victim = found->victim;
    violated(r, found->from,
             fmt::format("process {} arrives and enters while process {} waits and is not enabled", found->overtaker,
                         found->victim),
             run);
    r.counterexample->schedule.insert(r.counterexample->schedule.end(), found->steps.begin(), found->steps.end());
  }

  void undecided(property_result& r, const std::string& why) {
    r.is = verdict::undecided;
    r.why = why;
  }

  void violated(property_result& r, state_id s, const std::string& what, const lasso& run = {}) {
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

  /// Steps of the graph as entries of a schedule.
  void append(std::vector<int>& schedule, const std::vector<int>& steps) const {
    for (const int i : steps) schedule.push_back(scheduled(graph_->owner(i), graph_->choice(i)));
  }

  void by_state(property_result& r, state_id bad, const std::string& what) {
    if (bad != no_state) return violated(r, bad, what);
    if (!explored_.complete) return undecided(r, explored_.why);
    r.is = verdict::holds;
  }

  void deadlock(property_result& r) {
    if (explored_.deadlock != no_state) {
      lasso run;
      run.crashed = movable(explored_.deadlock);
      return violated(r, explored_.deadlock, "a process waits in its entry and nobody alive can move", run);
    }
    if (!explored_.complete) return undecided(r, explored_.why);
    // Without busy loops in the automata a run in which nobody enters comes to rest, and rest was looked for.
    if (!has_cycle_in(program_, region::entry) && !has_cycle_in(program_, region::exit)) {
      r.is = verdict::holds;
      return;
    }
    if (request_.symmetry) return deadlock_by_symmetry(r);
    if (!linked()) return undecided(r, watch_.why());
    by_lasso(r, find_deadlock(*graph_, *depths_, request_.crashes, watch_, request_.limits.threads),
             "a process is in its entry and nobody ever enters");
  }

  void deadlock_by_symmetry(property_result& r) {
    if (has_cycle_in(program_, region::exit) || writes_in_entry_loop(program_))
      return undecided(r, "processes loop in their exit, or write in a loop of their entry; decide without symmetry");
    const state_id bad = find_stuck_wait(explored_, request_.crashes);
    r.is = bad == no_state ? verdict::holds : verdict::violated;
    if (bad != no_state)
      r.counterexample = stuck_wait(program_, request_.of, r.name, way_to(explored_, bad, true).schedule);
  }

  void starvation(property_result& r) {
    if (!explored_.complete) return undecided(r, explored_.why);
    if (request_.symmetry) return starvation_by_symmetry(r);
    if (!linked()) return undecided(r, watch_.why());
    const liveness_result found = find_starvation(*graph_, *depths_, request_.crashes, watch_, request_.limits.threads);
    by_lasso(r, found, found.found ? fmt::format("process {} stays in its entry for ever", found.found->victim) : "");
  }

  void starvation_by_symmetry(property_result& r) {
    const quotient_graph reduced(explored_, watch_, request_.limits);
    if (!reduced.complete()) return undecided(r, watch_.why());
    const liveness_result found = find_starvation(reduced, depths(explored_), request_.crashes, watch_, request_.limits,
                                                  explored_.store->bytes(explored_.states));
    by_lasso(r, found, "");
    if (found.found)
      r.counterexample->what = fmt::format("process {} stays in its entry for ever", r.counterexample->victim);
  }

  void bounded_exit(property_result& r) {
    if (explored_.exit_blocked != no_state) {
      lasso run;
      run.victim = blocked_in_exit(explored_.exit_blocked);
      violated(r, explored_.exit_blocked, "", run);
      r.counterexample->what = fmt::format("process {} waits in its exit", r.counterexample->victim);
      return;
    }
    if (!explored_.complete) return undecided(r, explored_.why);
    if (!has_cycle_in(program_, region::exit)) {
      r.is = verdict::holds;
      r.figures.emplace_back("steps", exit_steps_max(program_));
      return;
    }
    if (request_.symmetry) return undecided(r, "processes loop in their exit; decide without symmetry");
    if (!linked()) return undecided(r, watch_.why());
    by_lasso(r, find_endless_exit(*graph_, *depths_, watch_, request_.limits.threads),
             "a process takes steps in its exit for ever");
  }

  void by_lasso(property_result& r, const liveness_result& found, const std::string& what) {
    if (found.found) return violated(r, found.found->entry, what, *found.found);
    if (!found.complete) return undecided(r, watch_.why());
    r.is = verdict::holds;
  }

  /// k-fcfs and fife: an order that later ones must respect.
  void doorway_order(property_result& r) {
    if (!fairness_decidable(r)) return;
    const doorways marks = doorways_of(program_);
    if (marks == doorways::none)
      return undecided(
          r, "not applicable: the algorithm's text marks no end of a doorway, so there is no order to respect");
    const bool fife = r.name == "fife";
    if (fife && !enabledness_known()) return undecided(r, watch_.why());
    const fairness_result found =
        fife ? find_fife_violation(explored_, *graph_, *enabled_, watch_, request_.limits.threads)
             : find_kfcfs_violation(explored_, *graph_, watch_, request_.limits.threads);
    if (!found.found) return by_completeness(r, found);
    const unfair_run& run = *found.found;
    const int victim = std::countr_zero(run.overtaken);
    if (fife)
      unfair(r, run, victim,
             fmt::format("process {1} started after process {0} was past its doorway and got inside; process {0} can "
                         "be kept out for ever",
                         victim, run.by));
    else
      unfair(r, run, -1,
             fmt::format(
                 "process {} started after k others ({}) were past their doorways and got inside before any of them",
                 run.by, fmt::join(members(run.overtaken), ", ")));
  }

  void bounded_waiting(property_result& r) {
    if (!fairness_decidable(r)) return;
    if (!enabledness_known()) return undecided(r, watch_.why());
    const waiting_result found = find_waiting_bound(explored_, *graph_, *depths_, *enabled_, watch_);
    if (found.found) {
      const int victim = std::countr_zero(found.found->overtaken);
      return unfair(r, *found.found, victim,
                    fmt::format("process {} gets in again and again while process {} waits and is never enabled",
                                found.found->by, victim));
    }
    by_completeness(r, found);
    if (r.is != verdict::holds) return;
    r.figures.emplace_back("b", found.b);
    if (found.b >= waiting_bound_max) return undecided(r, "larger bounds are not counted");
    const int passages = program_.options().passages;
    if (passages > 0 && found.b >= passages)
      undecided(r,
                fmt::format("with {} passages each nobody can be overtaken more often by the same process", passages));
  }

  bool fairness_decidable(property_result& r) {
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

  bool enabledness_known() {
    if (!enabled_) enabled_ = std::make_unique<enabledness>(*graph_, watch_, request_.limits.threads);
    return enabled_->complete();
  }

  void by_completeness(property_result& r, const fairness_result& found) {
    if (!found.complete) return undecided(r, watch_.why());
    r.is = verdict::holds;
  }

  void unfair(property_result& r, const unfair_run& run, int victim, const std::string& what) {
    violated(r, run.from, what);
    trace& t = *r.counterexample;
    t.victim = victim;
    if (run.loop >= 0) t.loop = static_cast<int>(t.schedule.size()) + run.loop;
    append(t.schedule, run.steps);
  }

  bool linked() {
    if (!graph_) {
      graph_ = std::make_unique<state_graph>(explored_, watch_, request_.limits);
      depths_ = std::make_unique<depths>(explored_);
    }
    return graph_->complete();
  }

  template <class F>
  void in_state(state_id s, F&& f) {
    with_words(explored_.store->words(), [&]<unsigned W>() {
      for_each_step<W>(
          *explored_.table, no_observer{}, explored_.contention, explored_.store->record(s),
          [&](const step& it, const std::uint64_t*) { f(it); }, [&](const step& it) { f(it); });
    });
  }
  process_set movable(state_id s) {
    process_set all = 0;
    in_state(s, [&](const step& it) {
      if (!it.entry.blocked() && it.row.where != region::remainder) all |= only(it.p);
    });
    return all;
  }
  int blocked_in_exit(state_id s) {
    int victim = -1;
    in_state(s, [&](const step& it) {
      if (it.entry.blocked() && it.row.where != region::entry) victim = it.p;
    });
    return victim;
  }

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

}  // namespace

const char* to_string(verdict v) {
  switch (v) {
    case verdict::holds:
      return "holds";
    case verdict::violated:
      return "violated";
    case verdict::undecided:
      return "undecided";
  }
  return "?";
}

verdict check_result::overall() const {
  verdict worst = verdict::holds;
  for (const property_result& r : properties) {
    if (r.is == verdict::violated) return verdict::violated;
    if (r.is == verdict::undecided) worst = verdict::undecided;
  }
  return worst;
}

bool check_result::within_passages() const {
  return overall() == verdict::holds && std::any_of(properties.begin(), properties.end(),
                                                    [](const property_result& r) { return r.within_passages > 0; });
}

std::string_view verdict_id(const property_result& r) {
  return r.within_passages > 0 ? "holds-within-passages" : to_string(r.is);
}

std::string_view verdict_id(const check_result& r) {
  return r.within_passages() ? "holds-within-passages" : to_string(r.overall());
}

check_result nothing_decided(const check_request& request, const std::string& why) {
  check_result r;
  r.asked = request;
  r.why = why;
  for (const std::string& name : request.properties) {
    property_result& one = r.properties.emplace_back();
    one.name = name;
    one.why = why;
  }
  return r;
}

check_result check(program& p, const check_request& request) {
  try {
    return checking(p, request).run();
  } catch (const text_error& e) {
    return nothing_decided(request, e.what());
  }
}

nlohmann::json to_json(const check_result& r, program& p) {
  nlohmann::json j{{"algorithm", r.asked.of.algorithm},
                   {"N", r.asked.of.N},
                   {"k", r.asked.of.k},
                   {"passages", r.asked.of.passages},
                   {"memory", r.asked.of.safe_registers ? "safe" : "sc"},
                   {"crashes", r.asked.crashes},
                   {"symmetry", r.asked.symmetry},
                   {"threads", r.asked.limits.threads},
                   {"states", r.states},
                   {"transitions", r.transitions},
                   {"seconds", r.seconds},
                   {"explore_seconds", r.explore_seconds},
                   {"bytes_per_state", r.bytes_per_state},
                   {"complete", r.complete}};
  j["audit"] = {{"walks", r.audit.walks},
                {"steps", r.audit.steps},
                {"passages", r.audit.passages},
                {"seconds", r.audit.seconds},
                {"share", r.asked.audit_share}};
  if (r.asked.contention > 0) j["contention"] = r.asked.contention;
  if (r.asked.symmetry) j["orbit_states"] = r.orbit_states;
  if (!r.why.empty()) j["why"] = r.why;
  auto& wrong = j["mutations"] = nlohmann::json::array();
  for (const mutation& m : r.asked.of.wrong) wrong.push_back(m.text());
  auto& properties = j["properties"] = nlohmann::json::array();
  for (const property_result& one : r.properties) {
    nlohmann::json q{{"name", one.name}, {"verdict", verdict_id(one)}};
    if (one.within_passages > 0) q["within_passages"] = one.within_passages;
    if (!one.why.empty()) q["why"] = one.why;
    for (const auto& [name, value] : one.figures) q[name] = value;
    if (one.counterexample) {
      q["length"] = one.counterexample->schedule.size();
      q["replay"] = one.counterexample->replay_command();
      q["trace"] = to_json(*one.counterexample, p);
    }
    properties.push_back(std::move(q));
  }
  return j;
}

}  // namespace kgate::lab
