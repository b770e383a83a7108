// SPDX-License-Identifier: Apache-2.0
// kgate-lab check: explores every interleaving and judges the properties.
#include "lab/checker/properties/check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "lab/checker/claims/formula.hpp"
#include "lab/checker/explore/memory_limit.hpp"
#include "lab/checker/explore/symmetry.hpp"
#include "lab/checker/graph/graph_file.hpp"
#include "lab/models/models.hpp"
#include "lab/models/promises.hpp"
#include "lab/models/ticket_rules.hpp"
#include "tools/kgate-lab/arguments.hpp"
#include "tools/kgate-lab/commands/commands.hpp"
#include "tools/kgate-lab/interrupt.hpp"
#include "tools/kgate-lab/output/catalog_text.hpp"
#include "tools/kgate-lab/output/coverage_text.hpp"
#include "tools/kgate-lab/output/output_file.hpp"
#include "tools/kgate-lab/output/provenance.hpp"
#include "tools/kgate-lab/output/terminal.hpp"
#include "tools/kgate-lab/output/text.hpp"
#include "tools/kgate-lab/output/verdict_table.hpp"
#include "tools/kgate-lab/own_text/text_file.hpp"
#include "tools/kgate-lab/watched_program.hpp"

namespace kgate::tool {

namespace {

constexpr int passages_max = 1'000'000;
constexpr int threads_max = 1024;
constexpr int accesses_max = 1'000'000;
constexpr int seed_max = 1'000'000'000;

using given = std::optional<std::string>;

/// What the user wrote, word for word.
struct command_options {
  std::string algorithm, N, k;
  std::vector<std::string> properties, mutations;
  given passages, memory, crashes, threads, memory_max, time_max, contention, forget_nothing, seed, order;
  bool symmetry = false, promised = false;
  std::vector<std::string> formulas;
  given fairness, file, format, graph;
  bool all = false;
  given trace;
  bool json = false;
};

/// The check to make, and what must be said about it.
struct plan {
  instance of;
  lab::check_request request;
  std::vector<std::string> notes;
};

void check_properties(const plan& p) {
  for (const std::string& name : p.request.properties) {
    require_names(p.of.algorithm, name);
    const lab::property* known = lab::find_property(name);
    if (known == nullptr && !lab::parse_formula_property(name))
      throw usage_error(
          fmt::format("check finds the bound itself: --property {}, not {}", name.substr(0, name.find(':')), name));
    if (p.request.symmetry && (known == nullptr || !known->by_symmetry))
      throw usage_error(fmt::format("{} cannot be decided with --symmetry; allowed are {}", name,
                                    fmt::join(lab::default_properties(p.of.algorithm, true), ", ")));
  }
}

void check_symmetry(const plan& p) {
  if (!p.request.symmetry) return;
  if (p.request.of.any_order) throw usage_error("--symmetry and --forall any exclude each other");
  if (!p.of.algorithm.base->symmetric_at(p.of.N, p.of.k)) {
    std::vector<std::string_view> symmetric;
    for (const catalog::row* row : lab::algorithm_rows())
      if (row->symmetric_at(p.of.N, p.of.k)) symmetric.push_back(row->id);
    throw usage_error(fmt::format("{} is not symmetric in its processes at N = {} k = {}; --symmetry is allowed for {}",
                                  p.of.algorithm.id(), p.of.N, p.of.k, fmt::join(symmetric, ", ")));
  }
  if (p.of.N > lab::symmetric_processes_max)
    throw usage_error(
        fmt::format("--symmetry takes at most {} processes, but N = {}", lab::symmetric_processes_max, p.of.N));
}

int passages_of(const command_options& a, plan& p) {
  if (a.passages == "unlimited") return 0;
  if (a.passages) {
    try {
      return parse_number("--passages", *a.passages, 1, passages_max);
    } catch (const usage_error& e) {
      throw usage_error(fmt::format("{} (or 'unlimited')", e.what()));
    }
  }
  if (p.of.algorithm.base->bounded_variables) return 0;
  p.notes.push_back(fmt::format(
      "the variables of {} are unbounded: one passage of each process was explored; --passages M explores more{}",
      p.of.algorithm.id(),
      lab::ticket_rule_of(p.of.algorithm.id(), p.of.N, p.of.k) ? ", --passages unlimited decides without limit" : ""));
  return 1;
}

table_format format_of(const command_options& a) {
  if (!a.format || *a.format == "text") return table_format::text;
  if (*a.format == "csv") return table_format::csv;
  if (*a.format == "latex") return table_format::latex;
  throw usage_error(fmt::format("--format needs text, csv or latex, not '{}'", *a.format));
}

lab::fairness_kind fairness_of(const command_options& a) {
  if (!a.fairness || *a.fairness == "weak") return lab::fairness_kind::weak;
  if (*a.fairness == "strong") return lab::fairness_kind::strong;
  if (*a.fairness == "none") return lab::fairness_kind::none;
  throw usage_error(fmt::format("--fairness needs weak, strong or none, not '{}'", *a.fairness));
}

plan make_plan(const command_options& a) {
  plan p;
  if (a.algorithm.empty() == !a.file)
    throw usage_error("check needs an algorithm (see kgate-lab list) or --file, and not both");
  if (a.file && !is_text_file(*a.file))
    throw usage_error(fmt::format("--file needs a header, as in mine.hpp, not '{}'", *a.file));
  p.of = parse_instance(a.file ? *a.file : a.algorithm, a.N, a.k);
  lab::check_request& r = p.request;
  r.of = {p.of.algorithm.id(), p.of.N, p.of.k, passages_of(a, p), {}, false};
  r.of.safe_registers = a.memory ? parse_memory(*a.memory) : p.of.algorithm.base->needs == catalog::registers::safe;
  r.of.any_order = a.order && parse_order(*a.order);
  for (const std::string& text : a.mutations) r.of.wrong.push_back(parse_mutation(p.of.algorithm, text));
  r.crashes = a.crashes ? parse_number("--crashes", *a.crashes, 0, p.of.N) : p.of.k - 1;
  r.contention = a.contention ? parse_number("--contention", *a.contention, 1, p.of.N) : 0;
  r.symmetry = a.symmetry;
  check_symmetry(p);
  r.labels = labels_of_algorithm(p.of.algorithm);
  for (const std::string& name : a.properties) r.properties.push_back(parse_property(name));
  if (a.fairness && a.formulas.empty())
    throw usage_error("--fairness is what a formula supposes: it needs --ltl; properties suppose weak fairness");
  for (const std::string& formula : a.formulas)
    r.properties.push_back(lab::formula_property{fairness_of(a), formula}.text());
  if (a.promised) {
    if (!r.properties.empty()) throw usage_error("--promised and --property exclude each other");
    for (const std::string& name : lab::default_properties(p.of.algorithm, r.symmetry))
      if (lab::is_promised(p.of.algorithm, name, p.of.N, p.of.k, r.crashes)) r.properties.push_back(name);
    if (r.properties.empty())
      throw usage_error(fmt::format("{} promises nothing that could be judged so", p.of.algorithm.id()));
  }
  if (r.properties.empty()) {
    r.properties = lab::default_properties(p.of.algorithm, r.symmetry);
    if (r.symmetry && r.properties.size() < lab::default_properties(p.of.algorithm, false).size())
      p.notes.push_back("with --symmetry the order of entering is not checked");
  }
  check_properties(p);
  const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  r.limits.threads = a.threads ? parse_number("--threads", *a.threads, 1, threads_max) : std::min(cores, threads_max);
  r.limits.memory_max = parse_memory_max(a.memory_max);
  if (a.seed) r.seed = static_cast<std::uint64_t>(parse_number("--seed", *a.seed, 0, seed_max));
  r.limits.seconds_max = a.time_max ? parse_duration("--time-max", *a.time_max) : 0;
  if (r.crashes > 0 && p.of.algorithm.base->promise.despite == catalog::crashes::none)
    p.notes.push_back(
        fmt::format("{} promises progress only without crashes: --crashes 0 checks that", p.of.algorithm.id()));
  return p;
}

/// What stands beside a text in a file as its invariant is judged unless something else is asked for.
void add_invariant(const command_options& a, plan& p, const lab::program& program) {
  const bool own = !text_of(*p.of.algorithm.base).empty();
  if (!own || !program.has_invariant() || !a.properties.empty() || !a.formulas.empty()) return;
  if (std::find(p.request.properties.begin(), p.request.properties.end(), "invariant") != p.request.properties.end())
    return;
  if (p.request.symmetry)
    p.notes.emplace_back("with --symmetry the invariant beside the text is not checked");
  else
    p.request.properties.emplace_back("invariant");
}

/// Reads the formulas, which names what is wrong with one, before minutes of exploring.
void require_well_formed(const lab::check_request& r, lab::program& program) {
  try {
    for (const std::string& name : r.properties)
      if (const auto written = lab::parse_formula_property(name)) lab::temporal_formula(written->formula, program);
  } catch (const std::invalid_argument& e) {
    throw usage_error(e.what());
  }
}

/// The rule by which tickets are reduced, if the search is to be one that reduces them.
std::optional<lab::ticket_rule> shifting_rule(const command_options& a, const plan& p) {
  const lab::check_request& r = p.request;
  std::optional<lab::ticket_rule> rule = lab::ticket_rule_of(p.of.algorithm.id(), p.of.N, p.of.k);
  if (!rule || r.of.passages > 0 || r.of.safe_registers || r.of.any_order || r.symmetry || r.contention > 0 ||
      a.graph || a.forget_nothing)
    return std::nullopt;
  return rule;
}

/// Why a property is not decided of states whose tickets are reduced: the other search would not end.
std::string not_without_limit(const std::string& property, const lab::program& program) {
  if (property == "invariant" && !program.has_invariant()) return lab::no_invariant;
  return "not decided without a limit on passages, for tickets grow for ever: --passages M decides it within M of each";
}

lab::check_result carry_out_shifted(const lab::ticket_rule& rule, plan& p, lab::program& program) {
  std::vector<std::string> shifted;
  std::copy_if(p.request.properties.begin(), p.request.properties.end(), std::back_inserter(shifted),
               lab::can_be_shifted);
  lab::check_result all = lab::nothing_decided(p.request, "");
  for (lab::property_result& one : all.properties) one.why = not_without_limit(one.name, program);
  require_well_formed(p.request, program);
  if (shifted.empty()) return all;
  const lab::memory_limit limit(p.request.limits.memory_max);
  progress_line line;
  p.request.limits.interrupted = &catch_interrupts();
  if (line.wanted()) p.request.limits.report = [&line](const lab::progress& now) { line.show(now); };
  p.notes.push_back(
      fmt::format("tickets were counted from the least in use, those more than {0} apart as {0} apart; random "
                  "runs of the text did the same",
                  rule.window));
  const lab::shifted_request request{p.request.of, shifted, p.request.crashes, rule, p.request.limits, p.request.seed};
  try {
    lab::check_result r = lab::check_shifted(lab::make_model(p.of.algorithm, p.of.N, p.of.k), request);
    auto decided = r.properties.begin();
    for (lab::property_result& one : all.properties)
      if (lab::can_be_shifted(one.name)) one = std::move(*decided++);
    r.properties = std::move(all.properties);
    r.request.properties = p.request.properties;
    return r;
  } catch (const std::bad_alloc&) {
    return lab::nothing_decided(p.request, "memory limit reached");
  } catch (const lab::text_error& e) {
    return lab::rules_broken(p.request, e.what());
  }
}

/// A violation of these says that a process is enabled: in all runs of so many passages, if they were limited, while in
/// longer ones it may be kept out. It is judged once more without limit.
void confirm_without_limit(const plan& p, lab::check_result& r) {
  if (p.request.of.passages == 0 || p.request.of.safe_registers) return;
  for (lab::property_result& one : r.properties) {
    const bool says_enabled = one.name == "enabled-in-order" || one.name == "fifo-enabling" || one.name == "l-full" ||
                              one.name == "l-queuelike";
    if (!says_enabled || !one.counterexample) continue;
    lab::trace longer = *one.counterexample;
    longer.of.passages = 0;
    const watched_program unlimited(p.of, longer.of, p.request.limits.seconds_max);
    if (lab::validate(longer, *unlimited).empty()) continue;
    one.is = lab::verdict::undecided;
    one.why = "a run breaks it if nobody makes more passages than were explored, and not without that limit";
    one.counterexample.reset();
  }
}

lab::check_result carry_out(lab::program& program, plan& p) {
  const lab::memory_limit limit(p.request.limits.memory_max);
  progress_line line;
  p.request.limits.interrupted = &catch_interrupts();
  if (line.wanted()) p.request.limits.report = [&line](const lab::progress& now) { line.show(now); };
  try {
    require_well_formed(p.request, program);
    lab::check_result r = lab::check(program, p.request);
    confirm_without_limit(p, r);
    return r;
  } catch (const std::bad_alloc&) {
    return lab::nothing_decided(p.request, "memory limit reached");
  } catch (const std::length_error& e) {
    return lab::nothing_decided(p.request, e.what());
  } catch (const std::invalid_argument& e) {
    throw usage_error(e.what());  // the algorithm does what the memory cannot
  }
}

std::string heading(const lab::check_request& r) {
  std::string text = fmt::format("{}  N={} k={}", coloured(r.of.algorithm, colour::bold), r.of.N, r.of.k);
  text += r.crashes == 0
              ? ", no crashes"
              : fmt::format(", at most {}", count_text(static_cast<unsigned>(r.crashes), "crash", "crashes"));
  text += r.of.passages == 0
              ? ", passages without limit"
              : fmt::format(", {} each", count_text(static_cast<unsigned>(r.of.passages), "passage", "passages"));
  if (r.of.safe_registers) text += ", safe registers";
  if (r.of.any_order) text += ", for all in any order";
  if (r.contention > 0) text += fmt::format(", contention {}", r.contention);
  if (r.symmetry) text += ", by symmetry";
  for (const lab::mutation& m : r.of.wrong) text += fmt::format(", {}", m.text());
  return text + "\n";
}

std::string verdict_text(const lab::property_result& r) {
  const lab::verdict v = r.within_limits() ? lab::verdict::undecided : r.is;
  return coloured(fmt::format("{:<9}", verdict_words(r)), v == lab::verdict::holds      ? colour::green
                                                          : v == lab::verdict::violated ? colour::red
                                                                                        : colour::yellow);
}

std::string verdicts(const plan& p, const lab::check_result& r) {
  std::size_t widest = 0;
  for (const lab::property_result& one : r.properties) widest = std::max(widest, one.name.size());
  std::string text;
  for (const lab::property_result& one : r.properties) {
    std::vector<std::string> remarks;
    if (one.is == lab::verdict::violated && lab::find_property(one.name) != nullptr &&
        !lab::is_promised(p.of.algorithm, one.name, p.of.N, p.of.k, r.request.crashes))
      remarks.emplace_back("not promised");
    if (!one.why.empty()) remarks.push_back(one.why);
    for (const auto& [name, value] : one.figures)
      remarks.push_back(value == 1 && name == "steps" ? "1 step" : fmt::format("{} {}", value, name));
    std::string line = fmt::format("  {:<{}}  {}", one.name, widest, verdict_text(one));
    if (!remarks.empty()) line += fmt::format("  {}", fmt::join(remarks, "; "));
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string covered(const lab::check_result& r) {
  if (r.states == 0 && r.why.empty()) return "nothing was explored\n";
  std::string text = r.complete ? "" : fmt::format("{}: what was explored until then: ", r.why);
  text += fmt::format("{}, {}", count_text(r.states, "state", "states"),
                      count_text(r.transitions, "transition", "transitions"));
  if (r.request.symmetry) text += fmt::format(" (they stand for {})", count_text(r.orbit_states, "state", "states"));
  text += fmt::format(", {:.1f} bytes a state, {:.2f} s", r.bytes_per_state, r.seconds);
  return wrapped(text, 0, 79) + "\n";
}

std::string audited(const lab::check_result& r) {
  const lab::audit_result& a = r.audit;
  if (!a.difference.empty()) return "";
  if (!a.made()) return r.states == 0 ? "" : "audit: none was made, for lack of memory\n";
  const auto part = [](const lab::audit_count& c, const char* one, const char* many) {
    const std::string all = count_text(c.all, one, many);
    return c.made == c.all ? all : fmt::format("{} of {}", grouped(c.made), all);
  };
  return wrapped(fmt::format("audit: the text agrees in {}, {}, {} and {} of {}; seed {}, {:.2f} s ({:.0f} % of the "
                             "time)",
                             part(a.steps_again, "step run again", "steps run again"),
                             part(a.merged, "merged history", "merged histories"),
                             part(a.loops, "step of loops", "steps of loops"), count_text(a.steps, "step", "steps"),
                             count_text(a.walks, "random run", "random runs"), r.request.seed, a.seconds,
                             r.seconds > 0 ? 100 * a.seconds / r.seconds : 0.0),
                 7, 79) +
         "\n";
}

std::string human(const plan& p, const lab::check_result& r, lab::program& program) {
  std::string text = heading(r.request) + verdicts(p, r) + covered(r) +
                     (r.states == 0 ? "" : coverage_text(r.reached, r.request.labels)) + audited(r) +
                     made_by_text(r.request.limits, r.request.seed);
  for (const std::string& note : p.notes) text += wrapped(fmt::format("note: {}", note), 6, 79) + "\n";
  for (const lab::property_result& one : r.properties) {
    if (!one.counterexample) continue;
    const lab::trace& t = *one.counterexample;
    text += fmt::format(
        "\n{}\n{}",
        coloured(fmt::format("{} is violated, after {}:", one.name, count_text(t.schedule.size(), "step", "steps")),
                 colour::bold),
        lab::describe(t, program));
    text += fmt::format("replay: {}\n", t.replay_command());
  }
  return text;
}

nlohmann::json machine_form(const plan& p, const lab::check_result& r, lab::program& program) {
  nlohmann::json j = lab::to_json(r, program);
  j["verdict"] = lab::verdict_id(r);
  j["notes"] = p.notes;
  j["version"] = KGATE_VERSION;
  add_provenance(j, r.request.limits, r.request.seed);
  j["coverage"]["labels_not_reached"] = labels_not_reached(r.reached, r.request.labels);
  for (auto& one : j["properties"])
    one["promised"] =
        lab::is_promised(p.of.algorithm, one["name"].get<std::string>(), p.of.N, p.of.k, r.request.crashes);
  return j;
}

exit_code to_exit_code(lab::verdict v) {
  switch (v) {
    case lab::verdict::holds:
      return exit_code::holds;
    case lab::verdict::violated:
      return exit_code::violated;
    case lab::verdict::undecided:
      return exit_code::undecided;
  }
  return exit_code::failed;
}

lab::graph_format graph_format_of(const std::string& path) {
  if (path.ends_with(".aut")) return lab::graph_format::aldebaran;
  if (path.ends_with(".dot")) return lab::graph_format::dot;
  throw usage_error(fmt::format("--graph needs a file that ends in .aut or .dot, not '{}'", path));
}

/// What the graph is of, in a line.
std::string heading_of_graph(const lab::check_request& r) {
  return fmt::format("{}, N = {}, k = {}{}; ", r.of.algorithm, r.of.N, r.of.k,
                     r.of.passages == 0 ? "" : fmt::format(", passages of each: {}", r.of.passages));
}

/// "2-5", "3": from and to.
std::optional<std::pair<int, int>> range_in(const std::string& text) {
  const std::size_t dash = text.find('-', 1);
  if (dash == std::string::npos) return std::nullopt;
  const int from = parse_number("a range", text.substr(0, dash), 1, processes_max);
  return std::pair{from, parse_number("a range", text.substr(dash + 1), from, processes_max)};
}

exit_code overall_code(const lab::check_result& r) {
  return r.within_limits() ? exit_code::undecided : to_exit_code(r.overall());
}

/// One check for each algorithm and each size of the ranges that it allows; the worst exit code of them.
exit_code sweep(const command_options& a) {
  if (a.trace || a.graph || a.forget_nothing)
    throw usage_error("--trace, --graph and --forget-nothing need one N and one k, and no table");
  if (a.all && (a.file || !a.algorithm.empty())) throw usage_error("check takes an algorithm or --all, not both");
  const auto sizes = [](const std::string& text, const char* option) {
    const auto range = range_in(text);
    if (range) return *range;
    const int only = parse_number(option, text, 1, processes_max);
    return std::pair{only, only};
  };
  const auto [N_from, N_to] = sizes(a.N, "-N");
  const auto [k_from, k_to] = sizes(a.k, "-k");
  std::vector<std::string> ids;
  if (a.all)
    for (const catalog::row* row : lab::algorithm_rows()) ids.emplace_back(row->id);
  else
    ids.push_back(a.file ? *a.file : a.algorithm);
  std::vector<lab::check_result> results;
  auto list = nlohmann::json::array();
  exit_code worst = exit_code::holds;
  for (const std::string& id : ids)
    for (int N = N_from; N <= N_to; ++N)
      for (int k = k_from; k <= std::min(k_to, N); ++k) {
        if (!catalog::limits_error(*parse_algorithm(id).base, N, k).empty() || catch_interrupts().load()) continue;
        command_options one = a;
        one.algorithm = id;
        one.file.reset();
        one.N = std::to_string(N);
        one.k = std::to_string(k);
        plan p = make_plan(one);
        const watched_program program(p.of, p.request.of, p.request.limits.seconds_max);
        add_invariant(a, p, *program);
        const std::optional<lab::ticket_rule> rule = shifting_rule(a, p);
        const lab::check_result& r =
            results.emplace_back(rule ? carry_out_shifted(*rule, p, *program) : carry_out(*program, p));
        if (a.json) list.push_back(machine_form(p, r, *program));
        const exit_code code = overall_code(r);
        worst =
            worst == exit_code::violated || code == exit_code::violated ? exit_code::violated : std::max(worst, code);
      }
  if (results.empty()) throw usage_error("no algorithm allows any N and k of these ranges");
  print(a.json ? list.dump(2) + "\n" : verdict_table(results, format_of(a), results.front().request.seed));
  return worst;
}

exit_code run(const command_options& a) {
  if (a.all || a.format || range_in(a.N) || range_in(a.k)) return sweep(a);
  plan p = make_plan(a);
  std::optional<output_file> trace_file;
  if (a.trace) trace_file.emplace("--trace", *a.trace);
  std::optional<output_file> graph_file, made_by_file;
  if (a.graph) {
    const lab::graph_format format = graph_format_of(*a.graph);
    graph_file.emplace("--graph", *a.graph);
    if (format == lab::graph_format::aldebaran) made_by_file.emplace("--graph", *a.graph + ".json");
  }
  lab::program_options options;
  if (a.forget_nothing)
    options.remember_accesses = parse_number("--forget-nothing", *a.forget_nothing, 1, accesses_max);
  const watched_program made(p.of, p.request.of, p.request.limits.seconds_max, options);
  lab::program& program = *made;
  add_invariant(a, p, program);
  const std::optional<lab::ticket_rule> rule = shifting_rule(a, p);
  const lab::check_result result = rule ? carry_out_shifted(*rule, p, program) : carry_out(program, p);
  print(a.json ? machine_form(p, result, program).dump(2) + "\n" : human(p, result, program));
  if (graph_file && result.complete) {
    const lab::memory_limit limit(p.request.limits.memory_max);
    lab::explore_options all;
    all.contention = p.request.contention;
    all.find_exclusion = all.find_names = false;
    lab::exploration explored = lab::explore(program, all, p.request.limits);
    const lab::graph_format format = graph_format_of(*a.graph);
    if (explored.complete)
      graph_file->write(lab::graph_text(explored, format,
                                        heading_of_graph(p.request) + provenance_text(p.request.limits, std::nullopt)));
    if (explored.complete && made_by_file) {
      nlohmann::json j{{"graph", *a.graph},
                       {"algorithm", p.request.of.algorithm},
                       {"N", p.request.of.N},
                       {"k", p.request.of.k},
                       {"passages", p.request.of.passages}};
      add_provenance(j, p.request.limits, std::nullopt);
      made_by_file->write(j.dump(2) + "\n");
    }
  }
  if (trace_file) {
    const auto shown = std::find_if(result.properties.begin(), result.properties.end(),
                                    [](const lab::property_result& one) { return one.counterexample.has_value(); });
    if (shown != result.properties.end())
      trace_file->write(trace_json(*shown->counterexample, program, p.request.limits, p.request.seed).dump(2) + "\n");
  }
  return overall_code(result);
}

}  // namespace

command add_check(CLI::App& tool) {
  auto it = std::make_shared<command_options>();
  CLI::App* o = tool.add_subcommand("check", "Explore every interleaving and judge the properties");
  const auto one = [&](const char* name, auto& value, const char* type, const char* text) {
    return o->add_option(name, value, text)->type_name(type);
  };
  one("ALGO", it->algorithm, "", "The algorithm's id, as 'list' shows it, or a FILE.hpp");
  one("-N", it->N, "N", "How many processes there are, or a range as 2-5")->required();
  one("-k", it->k, "K", "How many may be inside, or a range as 1-3")->required();
  o->add_flag("--all", it->all, "Every algorithm of the catalogue that allows N and k");
  one("--format", it->format, "text|csv|latex", "A table of the verdicts, one row for each N and k");
  o->add_option("--property", it->properties,
                "What to judge, may be repeated; else the basic\nproperties and what the algorithm promises")
      ->type_name("P")
      ->allow_extra_args(false);
  o->add_option("--ltl", it->formulas,
                "Judge a formula, as in 'forall p: [] (entry(p) ->\n<> inside(p))'; may be repeated")
      ->type_name("F")
      ->allow_extra_args(false);
  one("--fairness", it->fairness, "weak|strong|none",
      "What formulas suppose of processes that do not crash;\ndefault weak");
  one("--file", it->file, "FILE.hpp", "An algorithm of your own; 'new' writes a first one");
  o->add_flag("--promised", it->promised, "Judge what the algorithm promises, and nothing else");
  one("--passages", it->passages, "M",
      "Passages of each process, or 'unlimited', which is the\ndefault where the variables are bounded; else 1. With\n"
      "tickets that are only compared, 'unlimited' decides\nprogress and order");
  one("--memory", it->memory, "sc|safe",
      "Atomic registers, or safe ones: a read during a write\nreturns any value; default what the algorithm is for");
  one("--forall", it->order, "any|ascending",
      "In which order to do what the text does 'for all':\nany explores every one; default ascending");
  one("--crashes", it->crashes, "F", "Judge progress with at most F crashes; default k-1");
  one("--threads", it->threads, "T", "Default: one per core");
  one("--memory-max", it->memory_max, "B", "As in 500M or 2G; default 75 % of the memory");
  one("--time-max", it->time_max, "D", "As in 30s or 5m; default no limit");
  o->add_flag(
      "--symmetry", it->symmetry,
      "Explore one state of those that differ by renaming\nprocesses; nothing about order, at most 8 processes");
  one("--forget-nothing", it->forget_nothing, "A",
      "Forget nothing that a process observed in its passage,\nwhatever the text allows; a passage makes at most "
      "A\naccesses");
  one("--seed", it->seed, "R", "Of the audit, which compares the text with what was\nexplored of it; default 1");
  one("--contention", it->contention, "C",
      "Let at most C processes be outside their remainder;\nwhat holds then holds within that contention");
  o->add_option("--mutate", it->mutations,
                "Make an error: drop:LABEL, defer:LABEL or\nforce:LABEL=VALUE; may be repeated")
      ->type_name("M")
      ->allow_extra_args(false);
  one("--graph", it->graph, "FILE",
      "Write the states and steps there, for other tools:\nFILE.dot or FILE.aut (Aldebaran), with what made it "
      "in\nFILE.aut.json");
  one("--trace", it->trace, "FILE", "Write the first counterexample there, for replay");
  o->add_flag("--json", it->json, "The result for programs");
  o->footer(fmt::format("Properties: {}.\n", wrapped(fmt::format("{}", fmt::join(lab::property_ids(), ", ")), 2, 64)) +
            "A limit that is reached, or Ctrl-C, ends in 'undecided'.\n"
            "\n"
            "Examples:\n"
            "  kgate-lab check am97-chain-cc -N 3 -k 2\n"
            "  kgate-lab check am97-chain-cc -N 3 -k 2 --crashes 2     # one too many\n"
            "  kgate-lab check fa-semaphore -N 3 -k 1 --property starvation-free\n"
            "  kgate-lab check am97-chain-cc -N 3 -k 2 --mutate drop:8 --trace bad.json\n"
            "  kgate-lab check danek10-fife -N 2 -k 1 --memory safe    # needs atomic ones\n"
            "  kgate-lab check choi11 -N 5 -k 2 --symmetry --time-max 30s --json\n");
  return {o, [it] { return run(*it); }};
}

}  // namespace kgate::tool
