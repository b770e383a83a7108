// SPDX-License-Identifier: Apache-2.0
// kgate-lab rmr: remote memory references of a passage, beside what the papers claim.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "lab/checker/explore/memory_limit.hpp"
#include "lab/checker/graph/graph.hpp"
#include "lab/experiments/rmr_growth.hpp"
#include "lab/experiments/rmr_table.hpp"
#include "lab/schedules/adversary.hpp"
#include "tools/kgate-lab/arguments.hpp"
#include "tools/kgate-lab/commands/commands.hpp"
#include "tools/kgate-lab/interrupt.hpp"
#include "tools/kgate-lab/output/coverage_text.hpp"
#include "tools/kgate-lab/output/provenance.hpp"
#include "tools/kgate-lab/output/terminal.hpp"
#include "tools/kgate-lab/output/text.hpp"
#include "tools/kgate-lab/own_text/text_file.hpp"
#include "tools/kgate-lab/watched_program.hpp"

namespace kgate::tool {

namespace {

/// Schedules that are tried are the same in every run.
const std::uint64_t seed_of_schedules = lab::schedules::adversary_options{}.seed;

struct command_options {
  std::string algorithm, N, k, model = "cc", contention, passages, threads, time_max, steps;
  std::optional<std::string> memory_max;
  bool ordinary_cache = false;
  bool sample = false;
  bool all = false;
  bool growth = false;
  bool json = false;
};

lab::memory_model model_of(const std::string& text) {
  if (const auto model = lab::parse_memory_model(text)) return *model;
  std::vector<std::string_view> allowed;
  for (const lab::memory_model m : lab::memory_models) allowed.push_back(lab::to_string(m));
  throw usage_error(fmt::format("unknown model '{}'; allowed are {}", one_line(text), fmt::join(allowed, ", ")));
}

std::string count_or(catalog::rmr_count count) {
  return count == catalog::unbounded ? "unbounded" : fmt::format("{}", count);
}

std::string worst_text(const lab::rmr_measurement& m) {
  return m.unbounded ? "unbounded" : fmt::format("{}{}", m.exhaustive ? "" : ">=", m.worst);
}

/// An algorithm at a size, which may be larger than a search over all schedules can take.
instance sized(const command_options& a) {
  if (a.algorithm.empty()) throw usage_error("rmr needs an algorithm (see kgate-lab list), or --all");
  instance of{parse_algorithm(a.algorithm), 0, 0};
  if (a.N.empty() || a.k.empty()) throw usage_error("rmr needs -N and -k");
  of.N = parse_number("-N", a.N, 1, processes_max);
  of.k = parse_number("-k", a.k, 1, processes_max);
  if (const std::string error = catalog::limits_error(*of.algorithm.base, of.N, of.k); !error.empty())
    throw usage_error(error);
  return of;
}

lab::run_limits limits_of(const command_options& a) {
  lab::run_limits limits;
  limits.threads = a.threads.empty() ? 1 : parse_number("--threads", a.threads, 1, 256);
  limits.memory_max = parse_memory_max(a.memory_max);
  limits.seconds_max = a.time_max.empty() ? 0 : parse_duration("--time-max", a.time_max);
  return limits;
}

lab::rmr_measurement of_own_text(const instance& of, const lab::cost_model& cost, int contention, int passages,
                                 const lab::run_limits& limits) {
  const lab::program_name name{of.algorithm.id(), of.N, of.k, passages, {}, false};
  const watched_program program(of, name, limits.seconds_max);
  try {
    lab::rmr_measurement m = lab::measure_rmr(*program, of.algorithm, cost, contention, limits);
    program.require_remembering();
    return m;
  } catch (const lab::text_error& e) {
    throw usage_error(e.what());
  }
}

/// Schedules run the text itself, so that a loop without end in it could not be ended, and a crash not be named. So it
/// is explored a little before.
void prepare_schedules(const instance& of) {
  const int N = std::min(of.N, lab::graph_processes_max);
  const instance small{of.algorithm, N, std::min(of.k, N)};
  watched_program(small, {of.algorithm.id(), small.N, small.k, 0, {}, false}).require_remembering();
  load_scheduled_text(of.algorithm.id());
}

exit_code one(const command_options& a) {
  const instance of = sized(a);
  const lab::cost_model cost{model_of(a.model), !a.ordinary_cache};
  const int contention = a.contention.empty() ? 0 : parse_number("--contention", a.contention, 1, of.N);
  const bool bounded = of.algorithm.base->bounded_variables;
  const int passages = !a.passages.empty() ? parse_number("--passages", a.passages, 1, 1'000'000) : bounded ? 0 : 2;
  const int steps = a.steps.empty() ? 400'000 : parse_number("--steps", a.steps, 1, 1'000'000'000);
  lab::run_limits limits = limits_of(a);
  const bool own = is_text_file(a.algorithm);
  if (a.sample && own) prepare_schedules(of);
  if (!a.sample && of.N > lab::graph_processes_max)
    throw usage_error(
        fmt::format("a search over all schedules takes at most {} processes; --sample tries schedules instead",
                    lab::graph_processes_max));
  progress_line line;
  limits.interrupted = &catch_interrupts();
  if (line.wanted()) limits.report = [&line](const lab::progress& now) { line.show(now); };
  const lab::memory_limit limit(limits.memory_max);
  const lab::rmr_measurement m =
      a.sample ? lab::sample_rmr(of.algorithm, of.N, of.k, cost, contention, static_cast<std::uint64_t>(steps))
      : own    ? of_own_text(of, cost, contention, passages, limits)
               : lab::measure_rmr(of.algorithm, of.N, of.k, cost, contention, passages, limits);
  line.clear();
  const auto claim = catalog::rmr_claimed(of.algorithm, lab::claimed_model(cost.model), of.N, of.k,
                                          contention > 0 ? contention : of.N);
  const std::string formula = claim ? claim->formula : "none claimed";
  const std::vector<std::string> labels = labels_of_algorithm(of.algorithm);
  const exit_code code = !m.within()                ? exit_code::violated
                         : m.exhaustive || a.sample ? exit_code::holds
                                                    : exit_code::undecided;
  if (a.json) {
    nlohmann::json j = lab::to_json(m, of.algorithm, cost.model, formula);
    if (m.reached) j["coverage"]["labels_not_reached"] = labels_not_reached(*m.reached, labels);
    add_provenance(j, limits, seed_of_schedules);
    print(j.dump(2) + "\n");
    return code;
  }
  std::string text = fmt::format("{}  N={} k={}, {}", coloured(of.algorithm.id(), colour::bold), of.N, of.k, a.model);
  if (contention > 0) text += fmt::format(", contention {}", contention);
  if (m.passages > 0)
    text += fmt::format(", {} each", count_text(static_cast<unsigned>(m.passages), "passage", "passages"));
  text += fmt::format(
      "\n  worst  {}  {}\n", worst_text(m),
      m.exhaustive ? fmt::format("over all schedules{} ({} with cache contents)",
                                 m.passages > 0 ? " of so many passages" : "", count_text(m.states, "state", "states"))
                   : "the worst found by schedules: a lower estimate");
  if (!m.labels.empty())
    text += fmt::format("  at     {}\n", wrapped(fmt::format("{}", fmt::join(m.labels, " ")), 9, 79));
  text +=
      fmt::format("  bound  {}  {}{}\n", claim ? count_or(claim->count) : "-", formula, m.within() ? "" : "  EXCEEDED");
  if (!m.why.empty()) text += fmt::format("  note   {}: not all schedules were searched\n", m.why);
  if (m.reached) text += coverage_text(*m.reached, labels);
  print(text + made_by_text(limits, seed_of_schedules));
  return code;
}

/// The worst case for k = 1, 2, 4 ... 256 and how it grows with log k.
exit_code growth(const command_options& a) {
  if (a.algorithm.empty() || !a.N.empty() || !a.k.empty())
    throw usage_error("rmr --growth takes an algorithm, and chooses N and k itself");
  const catalog::choice algorithm = parse_algorithm(a.algorithm);
  if (is_text_file(a.algorithm)) prepare_schedules({algorithm, 4, 1});
  lab::rmr_growth_options options;
  options.k_max = std::min({options.k_max, algorithm.base->allowed.k_max, algorithm.base->allowed.N_max / 4});
  const lab::cost_model cost{model_of(a.model), !a.ordinary_cache};
  const lab::rmr_growth found = lab::measure_growth(algorithm, cost, options);
  if (a.json) {
    nlohmann::json j{{"algorithm", algorithm.id()},
                     {"model", a.model},
                     {"constant", found.constant},
                     {"slope", found.slope},
                     {"deviation", found.deviation}};
    add_provenance(j, limits_of(a), seed_of_schedules);
    for (const lab::rmr_measurement& m : found.measured)
      j["measured"].push_back(lab::to_json(m, algorithm, cost.model, ""));
    print(j.dump(2) + "\n");
    return exit_code::holds;
  }
  table cells;
  cells.add({"k", "N", "worst"});
  for (const lab::rmr_measurement& m : found.measured)
    cells.add({fmt::format("{}", m.k), fmt::format("{}", m.N), worst_text(m)});
  print(fmt::format("{}  {}, the worst found by schedules: lower estimates\n", coloured(algorithm.id(), colour::bold),
                    a.model) +
        cells.text("  ") +
        fmt::format("  fit  {:.1f} + {:.1f} log2 k, no measurement further from it than {:.1f}\n", found.constant,
                    found.slope, found.deviation) +
        made_by_text(limits_of(a), seed_of_schedules));
  return exit_code::holds;
}

std::string human(const std::vector<lab::rmr_claim_row>& rows) {
  std::string text =
      "Remote memory references of a passage: measured/bound. Over all schedules, or, after >=, the worst that\n"
      "adversarial and random schedules found: a lower estimate.\n";
  for (const lab::rmr_claim_row& row : rows) {
    text += fmt::format("\n{}  {}  {}  {}{}{}\n", coloured(row.source, colour::bold), row.algorithm.id(),
                        lab::to_string(row.model), row.formula, *lab::case_text(row.when) != '\0' ? ", " : "",
                        lab::case_text(row.when));
    table cells;
    std::vector<std::string> head{"N,k"}, body{"worst/bound"};
    const auto flush = [&] {
      if (head.size() == 1) return;
      cells.add(head);
      cells.add(body);
      head.resize(1);
      body.resize(1);
    };
    for (std::size_t i = 0; i < row.measured.size(); ++i) {
      const lab::rmr_measurement& m = row.measured[i];
      if (i > 0 && m.contention != row.measured[i - 1].contention) flush();
      if (m.contention > 0) head[0] = fmt::format("N,k c={}", m.contention);
      head.push_back(fmt::format("{},{}", m.N, m.k));
      body.push_back(fmt::format("{}/{}{}", worst_text(m), count_or(m.bound), m.within() ? "" : " EXCEEDED"));
    }
    flush();
    text += cells.text("  ");
  }
  return text;
}

exit_code everything(const command_options& a) {
  if (!a.algorithm.empty() || !a.N.empty() || !a.k.empty())
    throw usage_error("rmr takes an algorithm with -N and -k, or --all");
  lab::rmr_table_options options;
  if (!a.time_max.empty()) options.seconds_max = parse_duration("--time-max", a.time_max);
  if (a.memory_max) options.states_bytes_max = parse_size("--memory-max", *a.memory_max);
  options.interrupted = &catch_interrupts();
  progress_line line;
  std::uint64_t done = 0;
  std::string now;
  if (line.wanted())
    options.report = [&](const std::string& what) {
      now = what;
      line.show({now.c_str(), ++done, 0, 0, 0});
    };
  const lab::memory_limit limit(options.states_bytes_max);
  const std::vector<lab::rmr_claim_row> rows = lab::rmr_table(options);
  line.clear();
  bool within = true;
  for (const lab::rmr_claim_row& row : rows)
    for (const lab::rmr_measurement& m : row.measured) within &= m.within();
  lab::run_limits limits = limits_of(a);
  limits.memory_max = options.states_bytes_max;
  limits.seconds_max = options.seconds_max;
  nlohmann::json j;
  j["claims"] = lab::to_json(rows);
  add_provenance(j, limits, seed_of_schedules);
  print(a.json ? j.dump(2) + "\n" : human(rows) + "\n" + made_by_text(limits, seed_of_schedules));
  if (!within) return exit_code::violated;
  return options.interrupted->load() ? exit_code::undecided : exit_code::holds;
}

}  // namespace

command add_rmr(CLI::App& tool) {
  auto it = std::make_shared<command_options>();
  CLI::App* o = tool.add_subcommand("rmr", "Count remote memory references over all schedules");
  const auto option = [&](const char* name, auto& value, const char* type, const char* text) {
    return o->add_option(name, value, text)->type_name(type);
  };
  option("ALGO", it->algorithm, "", "The algorithm's id (see kgate-lab list), or a FILE.hpp");
  option("-N", it->N, "N", "How many processes there are");
  option("-k", it->k, "K", "How many may be inside");
  option("--model", it->model, "M", "cc, cc-copy, cc-writeback or dsm; default cc");
  option("--contention", it->contention, "C", "Let at most C processes be outside their remainder");
  option("--passages", it->passages, "M",
         "Passages of each process; default unlimited where the\nvariables are bounded, else 2");
  option("--threads", it->threads, "T", "Threads of the search; default 1");
  option("--memory-max", it->memory_max, "B", "Memory of the search: 500M, 2G");
  option("--time-max", it->time_max, "D", "Time of the search: 30s, 5m; with --all of each");
  option("--steps", it->steps, "S", "Steps that --sample takes; default 400000");
  o->add_flag("--ordinary-cache", it->ordinary_cache, "A failed compare-and-swap disturbs others' copies");
  o->add_flag("--sample", it->sample, "Try adversarial schedules instead of all: for large N");
  o->add_flag("--growth", it->growth, "Schedules for k = 1, 2, 4 ... 256, N = 4k, and a fit");
  o->add_flag("--all", it->all, "Every theorem and corollary of Anderson & Moir");
  o->add_flag("--json", it->json, "For programs");
  o->footer(
      "Exit code: 0 within the bound, 1 bound exceeded, 2 usage, 3 if a limit ended\n"
      "the search over all schedules (what was found is printed as a lower estimate).\n"
      "\n"
      "Examples:\n"
      "  kgate-lab rmr am97-chain-cc -N 3 -k 1\n"
      "  kgate-lab rmr am97-chain-dsm -N 3 -k 2 --model dsm\n"
      "  kgate-lab rmr am97-fastpath-nested-cc -N 4 -k 1 --contention 2\n"
      "  kgate-lab rmr am97-tree-cc -N 64 -k 4 --sample\n"
      "  kgate-lab rmr choi11 --growth\n"
      "  kgate-lab rmr --all\n");
  return {o, [it] {
            try {
              return it->all ? everything(*it) : it->growth ? growth(*it) : one(*it);
            } catch (const std::length_error& e) {
              throw failure(e.what());
            }
          }};
}

}  // namespace kgate::tool
