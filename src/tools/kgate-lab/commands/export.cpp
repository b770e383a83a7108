// SPDX-License-Identifier: Apache-2.0
// kgate-lab export: an algorithm as it was explored, in the language of another model checker.
#include <fmt/format.h>

#include <memory>
#include <optional>

#include "lab/checker/explore/explorer.hpp"
#include "lab/checker/explore/memory_limit.hpp"
#include "lab/translation/automata.hpp"
#include "tools/kgate-lab/arguments.hpp"
#include "tools/kgate-lab/commands/commands.hpp"
#include "tools/kgate-lab/interrupt.hpp"
#include "tools/kgate-lab/output/provenance.hpp"
#include "tools/kgate-lab/output/terminal.hpp"
#include "tools/kgate-lab/output/text.hpp"
#include "tools/kgate-lab/watched_program.hpp"

namespace kgate::tool {

namespace {

constexpr int passages_max = 1000;

using given = std::optional<std::string>;

struct command_options {
  std::string algorithm, N, k, language;
  given passages, memory, memory_max, time_max;
  std::vector<std::string> mutations;
};

using writer = std::string (*)(const lab::translated_program&);

writer writer_of(const std::string& language) {
  if (language == "promela") return lab::promela_text;
  if (language == "tla") return lab::tla_text;
  throw usage_error(fmt::format("--as needs promela or tla, not '{}'", language));
}

lab::program_name program_of(const command_options& a, const instance& of) {
  lab::program_name name{of.algorithm.id(), of.N, of.k, 0, {}, false};
  name.safe_registers = a.memory ? parse_memory(*a.memory) : of.algorithm.base->needs == catalog::registers::safe;
  for (const std::string& text : a.mutations) name.wrong.push_back(parse_mutation(of.algorithm, text));
  if (a.passages) {
    name.passages = parse_number("--passages", *a.passages, 1, passages_max);
  } else if (!of.algorithm.base->bounded_variables) {
    throw usage_error(
        fmt::format("the variables of {} are unbounded, so its automaton has no end: limit the passages, as in "
                    "--passages 1",
                    of.algorithm.id()));
  }
  return name;
}

exit_code run(const command_options& a) {
  const writer write = writer_of(a.language);
  const instance of = parse_instance(a.algorithm, a.N, a.k);
  const lab::program_name name = program_of(a, of);
  lab::run_limits limits;
  limits.memory_max = parse_memory_max(a.memory_max);
  limits.seconds_max = a.time_max ? parse_duration("--time-max", *a.time_max) : 0;
  limits.interrupted = &catch_interrupts();
  const watched_program program(of, name, limits.seconds_max);
  const lab::memory_limit limit(limits.memory_max);
  lab::explore_options all;
  all.find_exclusion = all.find_names = false;
  std::optional<lab::exploration> explored;
  try {
    explored.emplace(lab::explore(*program, all, limits));
  } catch (const lab::text_error& e) {
    throw usage_error(e.what());
  }
  if (!explored->complete) {
    std::fputs(fmt::format("kgate-lab: {} cannot be exported: {} after {}, and a part of an automaton would be "
                           "another algorithm\n",
                           name.algorithm, explored->why, count_text(explored->states, "state", "states"))
                   .c_str(),
               stderr);
    return exit_code::undecided;
  }
  program.require_remembering();
  lab::translated_program translated = lab::translate(*explored, name.algorithm);
  translated.made_by = provenance_text(limits, std::nullopt);
  print(write(translated));
  return exit_code::holds;
}

}  // namespace

command add_export(CLI::App& tool) {
  auto it = std::make_shared<command_options>();
  CLI::App* o = tool.add_subcommand("export", "Write an algorithm for another model checker");
  const auto one = [&](const char* name, auto& value, const char* type, const char* text) {
    return o->add_option(name, value, text)->type_name(type);
  };
  one("ALGO", it->algorithm, "", "The algorithm's id, as 'list' shows it, or a FILE.hpp")->required();
  one("-N", it->N, "N", "How many processes there are")->required();
  one("-k", it->k, "K", "How many may be inside")->required();
  one("--as", it->language, "promela|tla", "The language: for Spin, or TLA+")->required();
  one("--passages", it->passages, "M", "Passages of each process; needed where variables are\nunbounded");
  one("--memory", it->memory, "sc|safe", "Atomic registers, or safe ones; default what the\nalgorithm is for");
  o->add_option("--mutate", it->mutations, "Make an error, as for check; may be repeated")
      ->type_name("M")
      ->allow_extra_args(false);
  one("--memory-max", it->memory_max, "B", "As in 500M or 2G; default 75 % of the memory");
  one("--time-max", it->time_max, "D", "As in 30s or 5m; default no limit");
  o->footer(
      "What is written are the automata that check explores, with the paper's labels\n"
      "and k-exclusion as an assertion or invariant. Spin finds the same states, and\n"
      "one transition more: it counts the initial state.\n"
      "\n"
      "Examples:\n"
      "  kgate-lab export am97-chain-cc -N 3 -k 2 --as promela\n"
      "  kgate-lab export mcs -N 2 -k 1 --as tla\n"
      "  kgate-lab export kgate -N 2 -k 1 --passages 2 --as promela\n");
  return {o, [it] { return run(*it); }};
}

}  // namespace kgate::tool
