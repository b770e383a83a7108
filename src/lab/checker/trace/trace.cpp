// SPDX-License-Identifier: Apache-2.0
#include "lab/checker/trace/trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <utility>

#include "lab/checker/claims/formula.hpp"
#include "lab/checker/claims/property.hpp"
#include "lab/checker/graph/local_analysis.hpp"
#include "lab/checker/trace/able.hpp"
#include "lab/checker/trace/fairness_trace.hpp"
#include "lab/checker/trace/formula_trace.hpp"

namespace kgate::lab {

namespace {

/// As a shell needs it.
std::string quoted(const std::string& text) {
  constexpr auto plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-_./:";
  if (text.find_first_not_of(plain) == std::string::npos) return text;
  std::string inside = text;
  for (std::size_t at = 0; (at = inside.find('\'', at)) != std::string::npos; at += 4) inside.replace(at, 1, "'\\''");
  return "'" + inside + "'";
}

std::string numbers(const std::vector<int>& all) { return fmt::format("{}", fmt::join(all, ",")); }

/// "fetch_and_add X: 1 -> 0", "read X = 0", "await Q = p1".
std::string action(const step_record& r) {
  if (r.variable.empty()) return "local step";
  if (r.op == operation::write) return fmt::format("{} := {}", r.variable, *r.written);
  if (r.written) return fmt::format("{} {}: {} -> {}", to_string(r.op), r.variable, r.observed, *r.written);
  return fmt::format("{} {} = {}", to_string(r.op), r.variable, r.observed);
}

std::string moves_to(const step_record& r) {
  return r.before == r.after ? "" : fmt::format("{} -> {}", to_string(r.before), to_string(r.after));
}

std::string all_values(const walker& w, program& p) {
  std::string text;
  for (int v = 0; v < p.variables(); ++v)
    text += fmt::format("{}{}={}", v == 0 ? "" : " ", p.variable(v).name, p.variable(v).text(w.value(v)));
  return text;
}

int inside(const walker& w, int N) {
  int count = 0;
  for (int q = 0; q < N; ++q) count += w.local(q).where == region::critical;
  return count;
}

bool is_crashed(const trace& t, int p) { return std::find(t.crashed.begin(), t.crashed.end(), p) != t.crashed.end(); }

bool is_endless_waiting(const trace& t) { return t.property == "finite-waiting" || t.property == "finite-enabling"; }

/// A process that owes a step: alive, outside its remainder, able to move.
bool obliged(walker& w, const trace& t, int p) {
  // By Fischer et al. those inside need not leave.
  if ((t.property == "kl-deadlock-free" || is_endless_waiting(t)) && w.local(p).where == region::critical) return false;
  return !is_crashed(t, p) && w.outside(p) && w.can_move(p);
}

/// How many positions a search of what may follow visits.
constexpr std::size_t positions_max = 20'000;

/// Of a (k,l)-deadlock. Which permits are allocated depends on all that may follow; a run can only show the rest.
std::string judge_permits(walker& w) {
  const position_in_run here(w.source(), w.here());
  return here.enabled_wanted() > 0 || here.leaving() ? "" : "no permit is free, or nobody wants one";
}

std::string judge_end(const trace& t, walker& w, int N, int k) {
  if (t.property == "invariant")
    return w.source().has_invariant() && !w.source().broken_invariant(walked_state(w)).empty()
               ? ""
               : "the invariant is true at the end";
  if (t.property == "k-exclusion") return inside(w, N) > k ? "" : "at most k processes are inside at the end";
  if (t.property == "distinct-names") {
    for (int p = 0; p < N; ++p) {
      if (w.local(p).where != region::critical) continue;
      if (w.local(p).name < 0) return no_names;
      if (w.local(p).name >= k) return "";
      for (int q = 0; q < p; ++q)
        if (w.local(q).where == region::critical && w.local(q).name == w.local(p).name) return "";
    }
    return "the names inside are distinct and below k at the end";
  }
  if (t.property == "bounded-exit") {
    const bool stuck = t.victim >= 0 && t.victim < N && !w.can_move(t.victim) &&
                       (w.local(t.victim).where == region::exit || w.local(t.victim).where == region::critical);
    return stuck ? "" : "the process is not blocked in its exit at the end";
  }
  if (t.property == "local-waiting") {
    if (t.victim < 0) return "a violation of local-waiting needs a victim";
    if (is_crashed(t, t.victim)) return fmt::format("process {} has crashed", t.victim);
    const local_state& at = w.local(t.victim);
    const bool elsewhere = at.variable >= 0 && w.source().variable(at.variable).home != pid(t.victim);
    if (!elsewhere || (at.where != region::entry && at.where != region::exit))
      return "the process is at no variable of another's home at the end";
    if (at.op == operation::await) return w.can_move(t.victim) ? "the process is not blocked at the end" : "";
    return position_in_run(w.source(), w.here()).shown_to_come_back(t.victim, positions_max)
               ? ""
               : "no way was found back to where the process is at the end: it may not poll there";
  }
  if (t.property == "deadlock-free" || t.property == "starvation-free" || t.property == "kl-deadlock-free") {
    bool waiting = false;
    for (int p = 0; p < N; ++p) {
      if (obliged(w, t, p)) return fmt::format("process {} can still move at the end", p);
      waiting |= !is_crashed(t, p) && w.local(p).where == region::entry && (t.victim < 0 || t.victim == p);
    }
    if (!waiting) return "no live process waits in its entry at the end";
    return t.property == "kl-deadlock-free" ? judge_permits(w) : "";
  }
  if (t.property == "l-full" || t.property == "l-queuelike") {
    position_in_run end(w.source(), w.here());
    if (t.property == "l-queuelike" && end.leaving()) return "";
    return end.enabled_max(positions_max) != end.enabled_wanted() ? "" : "as many are enabled at the end as should be";
  }
  return fmt::format("a finite run cannot show that '{}' is violated", t.property);
}

/// A process that was in its remainder while the victim was in its entry enters by the last step, before which the
/// victim was in its entry and, unless fifo is at stake, not enabled.
std::string judge_arrival(const trace& t, program& p) {
  walker w(p);
  std::vector<bool> later(static_cast<std::size_t>(p.N()), false);
  bool overtakes = false, not_enabled = false;
  for (std::size_t i = 0; i < t.schedule.size(); ++i) {
    if (std::string wrong = cannot_step(t.schedule[i], w, i); !wrong.empty()) return wrong;
    const int q = scheduled_process(t.schedule[i]);
    if (i + 1 == t.schedule.size())
      not_enabled = position_in_run(p, w.here()).shown_not_enabled(t.victim, positions_max);
    const bool waited = w.local(t.victim).where == region::entry;
    const step_record r = w.step(q, scheduled_choice(t.schedule[i]));
    overtakes = waited && q != t.victim && later[static_cast<std::size_t>(q)] && r.after == region::critical &&
                r.before != region::critical;
    if (r.after == region::critical) later[static_cast<std::size_t>(q)] = false;
    for (int other = 0; other < p.N(); ++other)
      if (w.local(t.victim).where != region::entry)
        later[static_cast<std::size_t>(other)] = false;
      else if (!w.outside(other))
        later[static_cast<std::size_t>(other)] = true;
  }
  if (!overtakes) return fmt::format("nobody who arrived while process {} waited enters by the last step", t.victim);
  return not_enabled || t.property == "fifo" ? ""
                                             : fmt::format("process {} may be enabled when it is overtaken", t.victim);
}

/// Follows the loop once and judges it: closed, fair, and bad all the way round.
std::string judge_loop(const trace& t, walker& w, int N) {
  const walker::position start = w.here();
  std::vector<bool> settled(static_cast<std::size_t>(N), false);
  bool entered = false, victim_steps = false, changed = false, enabled_somewhere = false;
  bool entry_all_along = true, exit_all_along = true;
  const auto observe = [&] {
    for (int p = 0; p < N; ++p)
      if (!obliged(w, t, p)) settled[p] = true;
    if (t.victim >= 0) {
      entry_all_along &= w.local(t.victim).where == region::entry;
      exit_all_along &= w.local(t.victim).where == region::exit;
      if (t.property == "finite-enabling")
        enabled_somewhere |= !position_in_run(w.source(), w.here()).shown_not_enabled(t.victim, positions_max);
    } else {
      bool waits = false;
      for (int p = 0; p < N; ++p) waits |= !is_crashed(t, p) && w.local(p).where == region::entry;
      entry_all_along &= waits;
    }
  };
  observe();
  for (std::size_t i = static_cast<std::size_t>(t.loop); i < t.schedule.size(); ++i) {
    const int p = scheduled_process(t.schedule[i]);
    if (is_crashed(t, p)) return fmt::format("step {}: process {} has crashed", i + 1, p);
    if (std::string wrong = cannot_step(t.schedule[i], w, i); !wrong.empty()) return wrong;
    const step_record r = w.step(p, scheduled_choice(t.schedule[i]));
    entered |= r.after == region::critical && r.before != region::critical;
    changed |= r.after != r.before;
    victim_steps |= p == t.victim;
    settled[p] = true;
    observe();
  }
  if (!(w.here() == start)) return "the loop does not come back to its start";
  if (t.property == "bounded-exit")
    return exit_all_along && victim_steps ? "" : "the process does not step in its exit for ever";
  for (int p = 0; p < N; ++p)
    if (!settled[p]) return fmt::format("the loop is unfair: process {} could always move and never does", p);
  if (!entry_all_along) return "no process stays in its entry all along the loop";
  if (t.property == "starvation-free" && t.victim < 0) return "a violation of starvation-free needs a victim";
  if (is_crashed(t, t.victim) && !is_endless_waiting(t)) return fmt::format("process {} has crashed", t.victim);
  if (t.property == "deadlock-free" && entered) return "somebody enters in the loop";
  if (t.property == "kl-deadlock-free") return changed ? "somebody changes its region in the loop" : judge_permits(w);
  if (is_endless_waiting(t)) {
    if (t.victim < 0 || !entered) return "nobody gets inside in the loop while one waits";
    if (enabled_somewhere) return fmt::format("process {} may be enabled in the loop", t.victim);
  }
  return "";
}

/// What a run of this form cannot show, in a sentence; empty if it may.
std::string wrong_evidence(const trace& t) {
  const property* judged = find_property(t.property);
  if (judged == nullptr) return "";  // formulas, and bounded-waiting:B
  const bool repeats = t.loop >= 0 && t.loop < static_cast<int>(t.schedule.size());
  if (repeats && judged->evidence == shown_by::finite)
    return fmt::format("{} is judged at the end of a finite run, and here steps repeat for ever", t.property);
  if (!repeats && judged->evidence == shown_by::endless)
    return fmt::format("{} is judged by what repeats for ever, and this run ends", t.property);
  return "";
}

/// Why the property says nothing of this program, as far as that shows before the run; empty if it says something.
std::string missing_need(const trace& t, const program& p) {
  const property* judged = find_property(t.property);
  if (judged == nullptr) return "";
  if (judged->needs == needs_atomic_registers && t.of.safe_registers) return not_atomic;
  if (judged->needs == needs_invariant && !p.has_invariant()) return no_invariant;
  return "";
}

/// Of the order of entering; a text that marks no end of a doorway has none.
std::string judge_order(const trace& t, program& p) {
  std::string wrong = judge_fairness(t, p);
  const property* judged = find_property(t.property);
  const bool from_doorway = judged != nullptr && judged->needs == needs_doorway;
  return !wrong.empty() && from_doorway && doorways_of(p) == doorways::none ? no_doorway : wrong;
}

template <class T>
T one_of(const nlohmann::json& j, const char* field, std::initializer_list<std::pair<const char*, T>> allowed) {
  if (!j.contains(field)) return allowed.begin()->second;
  std::vector<std::string> names;
  for (const auto& [name, value] : allowed) {
    if (j[field] == name) return value;
    names.push_back(fmt::format("\"{}\"", name));
  }
  throw std::invalid_argument(fmt::format("a malformed trace: \"{}\" must be {}", field, fmt::join(names, " or ")));
}

}  // namespace

std::string too_many_inside(int k) {
  return fmt::format("more than {} inside", k == 1 ? "1 process is" : fmt::format("{} processes are", k));
}

std::string schedule_text(const std::vector<int>& schedule) {
  std::string text;
  for (std::size_t i = 0; i < schedule.size();) {
    std::size_t same = 1;
    while (i + same < schedule.size() && schedule[i + same] == schedule[i]) ++same;
    text += fmt::format("{}{}", text.empty() ? "" : ",", scheduled_process(schedule[i]));
    if (const int choice = scheduled_choice(schedule[i]); choice == death_choice)
      text += '!';
    else if (choice > 0)
      text += fmt::format("?{}", choice);
    if (same > 1) text += fmt::format("x{}", same);
    i += same;
  }
  return text;
}

std::vector<int> parse_schedule(const std::string& text) {
  std::vector<int> schedule;
  const auto fail = [&] {
    throw std::invalid_argument(fmt::format(
        "schedule '{}': allowed are process numbers, repetitions, choices and deaths, as in 0,1x3,2?4,0!", text));
  };
  std::size_t at = 0;
  const auto number = [&]() -> int {
    const std::size_t begin = at;
    long value = 0;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9') {
      value = value * 10 + (text[at++] - '0');
      if (value > 10'000'000) fail();
    }
    if (at == begin) fail();
    return static_cast<int>(value);
  };
  while (at < text.size()) {
    int p = number();
    if (p >= scheduled_choices_from) fail();
    if (at < text.size() && text[at] == '?') {
      ++at;
      const int choice = number();
      if (choice >= death_choice) fail();
      p = scheduled(p, choice);
    } else if (at < text.size() && text[at] == '!') {
      ++at;
      p = scheduled(p, death_choice);
    }
    int times = 1;
    if (at < text.size() && text[at] == 'x') {
      ++at;
      times = number();
    }
    if (schedule.size() + static_cast<std::size_t>(times) > 10'000'000) fail();
    schedule.insert(schedule.end(), static_cast<std::size_t>(times), p);
    if (at < text.size() && (text[at++] != ',' || at == text.size())) fail();
  }
  return schedule;
}

std::string trace::replay_command() const {
  std::string text = fmt::format("kgate-lab replay --algorithm {} -N {} -k {}", quoted(of.algorithm), of.N, of.k);
  if (of.passages > 0) text += fmt::format(" --passages {}", of.passages);
  if (of.safe_registers) text += " --memory safe";
  if (of.any_order) text += " --forall any";
  for (const mutation& m : of.wrong) text += fmt::format(" --mutate {}", m.text());
  text += fmt::format(" --property {}", quoted(property));
  if (victim >= 0) text += fmt::format(" --victim {}", victim);
  if (!crashed.empty()) text += fmt::format(" --crashed {}", numbers(crashed));
  if (loop >= 0) text += fmt::format(" --loop {}", loop);
  return text + fmt::format(" --schedule {}", schedule.empty() ? "''" : schedule_text(schedule));
}

std::string describe(const trace& t, program& p) {
  walker w(p);
  doorway_order order(p.N());
  std::string text = fmt::format("  initially: {}\n", all_values(w, p));
  for (std::size_t i = 0; i < t.schedule.size(); ++i) {
    if (static_cast<int>(i) == t.loop) {
      if (!t.crashed.empty()) text += fmt::format("  -- crashed from here on: {}\n", numbers(t.crashed));
      text += "  -- from here on, for ever:\n";
    }
    const step_record r = order.step(w, t.schedule[i]);
    text += fmt::format("  {:4}  p{:<3} {:>4}: {:<44} {}\n", i + 1, r.process, r.label, action(r), moves_to(r));
    if (is_fairness(t.property) && r.after == region::critical && r.before != region::critical &&
        !order.before(r.process).empty())
      text += fmt::format("  -- p{} is inside; past their doorway before it started, and still there: {}\n", r.process,
                          numbers(order.before(r.process)));
  }
  if (t.loop == static_cast<int>(t.schedule.size()) || t.loop < 0)
    if (!t.crashed.empty()) text += fmt::format("  -- crashed from here on: {}\n", numbers(t.crashed));
  text += fmt::format("  in the end: {}\n  {}\n", all_values(w, p), t.what);
  return text;
}

nlohmann::json to_json(const trace& t, program& p) {
  nlohmann::json j{{"format", "kgate-trace"},
                   {"version", 1},
                   {"algorithm", t.of.algorithm},
                   {"N", t.of.N},
                   {"k", t.of.k},
                   {"passages", t.of.passages},
                   {"memory", t.of.safe_registers ? "safe" : "sc"},
                   {"forall", t.of.any_order ? "any" : "ascending"},
                   {"property", t.property},
                   {"what", t.what},
                   {"schedule", t.schedule},
                   {"loop", t.loop},
                   {"victim", t.victim},
                   {"crashed", t.crashed},
                   {"replay", t.replay_command()}};
  auto& wrong = j["mutations"] = nlohmann::json::array();
  for (const mutation& m : t.of.wrong) wrong.push_back(m.text());
  walker w(p);
  auto& variables = j["variables"] = nlohmann::json::array();
  for (int v = 0; v < p.variables(); ++v)
    variables.push_back({{"name", p.variable(v).name}, {"initial", p.variable(v).text(0)}});
  const auto enabled = [&] {
    std::vector<int> movable;
    for (int q = 0; q < p.N(); ++q)
      if (w.can_move(q)) movable.push_back(q);
    return movable;
  };
  j["enabled"] = enabled();
  auto& at = j["at"] = nlohmann::json::array();
  for (int q = 0; q < p.N(); ++q) at.push_back(w.local(q).label);
  auto& steps = j["steps"] = nlohmann::json::array();
  for (const int entry : t.schedule) {
    const step_record r = w.step(scheduled_process(entry), scheduled_choice(entry));
    nlohmann::json s{{"process", r.process},       {"label", r.label},       {"operation", to_string(r.op)},
                     {"variable", r.variable},     {"observed", r.observed}, {"before", to_string(r.before)},
                     {"after", to_string(r.after)}};
    if (r.written) s["written"] = *r.written;
    if (r.after == region::entry && w.local(r.process).waiting) s["past_doorway"] = true;
    s["enabled"] = enabled();
    s["at"] = w.local(r.process).label;
    steps.push_back(std::move(s));
  }
  return j;
}

trace trace_from_json(const nlohmann::json& j) {
  if (!j.is_object() || j.value("format", "") != "kgate-trace")
    throw std::invalid_argument("not a trace: the field \"format\" must be \"kgate-trace\"");
  if (!j.contains("version") || j["version"] != 1)
    throw std::invalid_argument("a trace of another version: only version 1 is read");
  try {
    trace t;
    t.of.algorithm = j.at("algorithm").get<std::string>();
    t.of.N = j.at("N").get<int>();
    t.of.k = j.at("k").get<int>();
    t.of.passages = j.at("passages").get<int>();
    if (!j.at("mutations").is_array()) throw std::invalid_argument("a malformed trace: \"mutations\" is not a list");
    for (const auto& m : j.at("mutations")) t.of.wrong.push_back(mutation::parse(m.get<std::string>()));
    t.of.safe_registers = one_of<bool>(j, "memory", {{"sc", false}, {"safe", true}});
    t.of.any_order = one_of<bool>(j, "forall", {{"ascending", false}, {"any", true}});
    t.property = j.at("property").get<std::string>();
    t.what = j.at("what").get<std::string>();
    t.schedule = j.at("schedule").get<std::vector<int>>();
    t.loop = j.at("loop").get<int>();
    t.victim = j.at("victim").get<int>();
    t.crashed = j.at("crashed").get<std::vector<int>>();
    return t;
  } catch (const nlohmann::json::exception& e) {
    throw std::invalid_argument(std::string("a malformed trace: ") + e.what());
  }
}

std::string validate(const trace& t, program& p) {
  const int N = p.N();
  if (t.loop > static_cast<int>(t.schedule.size())) return "the loop starts after the end of the schedule";
  if (t.victim >= N) return fmt::format("process {} does not exist: N = {}", t.victim, N);
  for (const int q : t.crashed)
    if (q < 0 || q >= N) return fmt::format("process {} does not exist: N = {}", q, N);
  const std::size_t stem = t.loop < 0 ? t.schedule.size() : static_cast<std::size_t>(t.loop);
  for (std::size_t i = 0; i < t.schedule.size(); ++i)
    if (t.schedule[i] < 0 || scheduled_process(t.schedule[i]) >= N)
      return fmt::format("step {}: process {} does not exist: N = {}", i + 1, scheduled_process(t.schedule[i]), N);
  if (std::string wrong = wrong_evidence(t); !wrong.empty()) return wrong;
  if (std::string missing = missing_need(t, p); !missing.empty()) return missing;
  if (is_fairness(t.property)) return judge_order(t, p);
  if (t.victim >= 0 && (t.property == "fifo" || t.property == "fifo-enabling" || t.property == "l-queuelike"))
    return judge_arrival(t, p);
  if (const auto formula = parse_formula_property(t.property)) return judge_formula(t, *formula, p);
  walker w(p);
  for (std::size_t i = 0; i < stem; ++i) {
    if (std::string wrong = cannot_step(t.schedule[i], w, i); !wrong.empty()) return wrong;
    w.step(scheduled_process(t.schedule[i]), scheduled_choice(t.schedule[i]));
  }
  if (t.loop < 0 || stem == t.schedule.size()) return judge_end(t, w, N, p.k());
  return judge_loop(t, w, N);
}

}  // namespace kgate::lab
