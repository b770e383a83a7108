// SPDX-License-Identifier: Apache-2.0
// kgate-lab space: how many values the shared memory of Fischer et al.'s systems takes.
#include "lab/experiments/space.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "lab/checker/explore/memory_limit.hpp"
#include "tools/kgate-lab/arguments.hpp"
#include "tools/kgate-lab/commands/commands.hpp"
#include "tools/kgate-lab/interrupt.hpp"
#include "tools/kgate-lab/output/provenance.hpp"
#include "tools/kgate-lab/output/terminal.hpp"
#include "tools/kgate-lab/output/text.hpp"
#include "tools/kgate-lab/watched_program.hpp"

namespace kgate::tool {

namespace {

constexpr int all_N_max = 8;
constexpr int all_k_max = 2;

struct command_options {
  std::string algorithm, N, k, time_max, memory_max = "3G";
  bool all = false;
  bool json = false;
};

constexpr std::uint64_t seed_of_walks = 1;

lab::run_limits limits_of(const command_options& a) {
  lab::run_limits limits;
  limits.memory_max = parse_memory_max(a.memory_max);
  limits.seconds_max = a.time_max.empty() ? 10 : parse_duration("--time-max", a.time_max);
  limits.interrupted = &catch_interrupts();
  return limits;
}

std::vector<lab::space_cell> measure(const command_options& a) {
  lab::run_limits limits = limits_of(a);
  const lab::memory_limit limit(limits.memory_max);
  progress_line line;
  std::string now_measured;
  if (line.wanted())
    limits.report = [&](lab::progress now) {
      if (!now_measured.empty()) now.phase = now_measured.c_str();
      line.show(now);
    };
  std::vector<lab::space_cell> cells;
  if (!a.all) {
    if (a.algorithm.empty() || a.N.empty() || a.k.empty())
      throw usage_error("space needs --all, or an algorithm with -N and -k");
    const instance of = parse_instance(a.algorithm, a.N, a.k);
    if (!of.algorithm.base->bounded_variables)
      throw usage_error(fmt::format("the variables of {} are unbounded: there is nothing to count", of.algorithm.id()));
    const watched_program program(of, {of.algorithm.id(), of.N, of.k, 0, {}, false}, limits.seconds_max);
    try {
      cells.push_back(lab::measure_space(*program, of.algorithm, limits));
      program.require_remembering();
    } catch (const lab::text_error& e) {
      throw usage_error(e.what());
    }
    return cells;
  }
  if (!a.algorithm.empty() || !a.N.empty() || !a.k.empty()) throw usage_error("--all goes with no algorithm, -N or -k");
  for (const std::string_view algorithm : lab::space_algorithms())
    for (int k = 1; k <= all_k_max; ++k)
      for (int N = k + 1; N <= all_N_max; ++N) {
        now_measured = fmt::format("{} N={} k={}: exploring", algorithm, N, k);
        cells.push_back(lab::measure_space(std::string(algorithm), N, k, limits));
      }
  return cells;
}

std::string number(double n) { return n < 1e9 ? grouped(static_cast<std::uint64_t>(n)) : fmt::format("{:.1e}", n); }

std::string human(const std::vector<lab::space_cell>& cells) {
  table all;
  all.add({"ALGORITHM", "N", "k", "LOWER BOUND", "", "VALUES", "UPPER BOUND", ""});
  for (const lab::space_cell& c : cells)
    all.add({c.algorithm, std::to_string(c.N), std::to_string(c.k), c.lower_formula,
             c.lower_formula.empty() ? "" : number(c.lower), (c.exhaustive ? "" : ">= ") + grouped(c.values),
             c.upper_formula, c.upper_formula.empty() ? "" : number(c.upper)});
  return all.text("") +
         "\nVALUES    distinct contents of the shared memory over all reachable states;\n"
         "          after >= those that random runs and the search within its limits met\n"
         "LOWER     theorems 5.1 to 5.3 of Fischer, Lynch, Burns & Borodin 1979\n"
         "UPPER     section 1, theorems 4.1 to 4.4; d(k) and c(k) as for this construction\n";
}

exit_code run(const command_options& a) {
  const std::vector<lab::space_cell> cells = measure(a);
  if (a.json) {
    nlohmann::json all = nlohmann::json::array();
    for (const lab::space_cell& c : cells) {
      all.push_back(lab::to_json(c));
      add_provenance(all.back(), limits_of(a), seed_of_walks);
    }
    print((a.all ? all : all[0]).dump(2) + "\n");
  } else {
    print(human(cells) + "\n" + made_by_text(limits_of(a), seed_of_walks));
  }
  const bool within = std::all_of(cells.begin(), cells.end(), [](const lab::space_cell& c) { return c.within(); });
  return within ? exit_code::holds : exit_code::violated;
}

}  // namespace

command add_space(CLI::App& tool) {
  auto it = std::make_shared<command_options>();
  CLI::App* o = tool.add_subcommand("space", "Count the values the shared memory takes");
  o->add_option("ALGO", it->algorithm,
                "The algorithm's id, or a FILE.hpp; bounds are known of\nthe systems of Fischer et al.");
  o->add_option("-N", it->N, "How many processes there are")->type_name("N");
  o->add_option("-k", it->k, "How many may be inside")->type_name("K");
  o->add_flag("--all", it->all, "Every system, k = 1 and 2, N up to 8: 65 counts");
  o->add_option("--time-max", it->time_max, "For each count, as in 30s or 5m; default 10s")->type_name("D");
  o->add_option("--memory-max", it->memory_max, "As in 500M or 2G; default 3G")->type_name("B");
  o->add_flag("--json", it->json, "The result for programs");
  o->footer(
      "Examples:\n"
      "  kgate-lab space flbb79-tickets -N 5 -k 2\n"
      "  kgate-lab space mine.hpp -N 3 -k 2\n"
      "  kgate-lab space --all\n");
  return {o, [it] { return run(*it); }};
}

}  // namespace kgate::tool
