// SPDX-License-Identifier: Apache-2.0
// kgate-lab search: random schedules, for the sizes that no search of all states reaches.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "lab/checker/explore/memory_limit.hpp"
#include "lab/checker/properties/schedule_search.hpp"
#include "lab/checker/trace/fairness_trace.hpp"
#include "lab/models/models.hpp"
#include "lab/models/promises.hpp"
#include "tools/kgate-lab/arguments.hpp"
#include "tools/kgate-lab/commands/commands.hpp"
#include "tools/kgate-lab/interrupt.hpp"
#include "tools/kgate-lab/output/output_file.hpp"
#include "tools/kgate-lab/output/provenance.hpp"
#include "tools/kgate-lab/output/terminal.hpp"
#include "tools/kgate-lab/output/text.hpp"
#include "tools/kgate-lab/watched_program.hpp"

namespace kgate::tool {

namespace {

constexpr int walks_max = 1'000'000'000;
constexpr int seed_max = 1'000'000'000;
constexpr int passages_max = 1000;
constexpr int safe_passages_default = 2;  ///< of each process on safe registers, whose domain depends on it

using given = std::optional<std::string>;

struct command_options {
  std::string algorithm, N, k, walks = "100000", seed = "1", passages = "20";
  std::vector<std::string> properties, mutations;
  given crashes, memory_max, time_max, memory, order, passages_each, trace;
  bool json = false;
};

std::string searched(const std::string& id) {
  if (lab::can_be_searched(id)) return id;
  throw usage_error(
      fmt::format("'{}' cannot be searched for; allowed are {}", id, fmt::join(lab::searched_properties(), ", ")));
}

struct plan {
  instance of;
  lab::program_name name;
  lab::search_options options;
  std::uint64_t memory_max = 0;
};

plan make_plan(const command_options& a) {
  plan p;
  p.of = parse_instance(a.algorithm, a.N, a.k);
  p.name = {p.of.algorithm.id(), p.of.N, p.of.k, 0, {}, false};
  p.name.safe_registers = a.memory ? parse_memory(*a.memory) : p.of.algorithm.base->needs == catalog::registers::safe;
  p.name.any_order = a.order && parse_order(*a.order);
  if (p.name.safe_registers) p.name.passages = safe_passages_default;
  if (a.passages_each) p.name.passages = parse_number("--passages-each", *a.passages_each, 1, passages_max);
  for (const std::string& text : a.mutations) p.name.wrong.push_back(parse_mutation(p.of.algorithm, text));
  for (const std::string& id : a.properties) p.options.properties.push_back(searched(id));
  if (p.options.properties.empty()) p.options.properties = lab::searched_promises(p.of.algorithm);
  if (p.options.properties.empty())
    throw usage_error(fmt::format("{} promises nothing that can be searched for; say --property", a.algorithm));
  p.options.crashes = a.crashes ? parse_number("--crashes", *a.crashes, 0, p.of.N)
                                : std::min(catalog::crashes_max(p.of.algorithm.promise(), p.of.N, p.of.k), p.of.k - 1);
  p.options.walks = static_cast<std::uint64_t>(parse_number("--walks", a.walks, 1, walks_max));
  p.options.seed = static_cast<std::uint32_t>(parse_number("--seed", a.seed, 0, seed_max));
  p.options.passages = parse_number("--passages", a.passages, 1, passages_max);
  p.memory_max = parse_memory_max(a.memory_max);
  if (a.time_max) p.options.seconds_max = parse_duration("--time-max", *a.time_max);
  p.options.interrupted = &catch_interrupts();
  return p;
}

lab::run_limits limits_of(const plan& p) {
  lab::run_limits limits;
  limits.seconds_max = p.options.seconds_max;
  limits.memory_max = p.memory_max;
  return limits;
}

nlohmann::json machine_form(const plan& p, const lab::search_result& r, lab::program& program) {
  nlohmann::json j{{"algorithm", p.name.algorithm},
                   {"N", p.name.N},
                   {"k", p.name.k},
                   {"memory", p.name.safe_registers ? "safe" : "sc"},
                   {"properties", p.options.properties},
                   {"crashes", p.options.crashes},
                   {"walks_max", p.options.walks},
                   {"passages", p.options.passages},
                   {"passages_each", p.name.passages},
                   {"walks", r.walks},
                   {"steps", r.steps},
                   {"seconds", r.seconds},
                   {"verdict", r.found ? "violated" : "undecided"}};
  add_provenance(j, limits_of(p), p.options.seed);
  if (r.found) {
    j["property"] = r.found->property;
    j["trace"] = lab::to_json(*r.found, program);
  }
  return j;
}

std::string human(const plan& p, const lab::search_result& r, lab::program& program) {
  std::string text = fmt::format("{}  N={} k={}, at most {}{}\n", coloured(p.name.algorithm, colour::bold), p.name.N,
                                 p.name.k, count_text(static_cast<unsigned>(p.options.crashes), "crash", "crashes"),
                                 p.name.safe_registers ? ", safe registers" : "");
  text += fmt::format("{}, {}, seed {}, {:.2f} s\n", count_text(r.walks, "random run", "random runs"),
                      count_text(r.steps, "step", "steps"), p.options.seed, r.seconds);
  const std::string made_by = wrapped(fmt::format("at most {}; by {}", count_text(p.options.walks, "run", "runs"),
                                                  provenance_text(limits_of(p), p.options.seed)),
                                      3, 79) +
                              "\n";
  if (!r.found)
    return text +
           wrapped(fmt::format("undecided: no violation of {} was found, which excludes none",
                               fmt::join(p.options.properties, ", ")),
                   0, 79) +
           "\n" + made_by;
  const lab::trace& t = *r.found;
  text += fmt::format(
      "\n{}\n{}",
      coloured(fmt::format("{} is violated, after {}:", t.property, count_text(t.schedule.size(), "step", "steps")),
               colour::bold),
      lab::describe(t, program));
  return text + fmt::format("replay: {}\n", t.replay_command()) + made_by;
}

exit_code run(const command_options& a) {
  const plan p = make_plan(a);
  std::optional<output_file> trace_file;
  if (a.trace) trace_file.emplace("--trace", *a.trace);
  const watched_program made(p.of, p.name, p.options.seconds_max);
  lab::search_result found;
  const lab::memory_limit limit(p.memory_max);
  try {
    found = lab::search_schedules(*made, p.name, p.options);
    if (found.found) {
      lab::trace shorter = lab::shortened(*found.found, *made);
      if (lab::validate(shorter, *made).empty()) found.found = std::move(shorter);
    }
    made.require_remembering();
  } catch (const std::invalid_argument& e) {
    throw usage_error(e.what());
  } catch (const lab::text_error& e) {
    throw usage_error(e.what());
  }
  print(a.json ? machine_form(p, found, *made).dump(2) + "\n" : human(p, found, *made));
  if (trace_file && found.found)
    trace_file->write(trace_json(*found.found, *made, limits_of(p), p.options.seed).dump(2) + "\n");
  return found.found ? exit_code::violated : exit_code::undecided;
}

}  // namespace

command add_search(CLI::App& tool) {
  auto it = std::make_shared<command_options>();
  CLI::App* o = tool.add_subcommand("search", "Try random schedules, where check cannot reach");
  const auto one = [&](const char* name, auto& value, const char* type, const char* text) {
    return o->add_option(name, value, text)->type_name(type);
  };
  one("ALGO", it->algorithm, "", "The algorithm's id, as 'list' shows it, or a FILE.hpp")->required();
  one("-N", it->N, "N", "How many processes there are")->required();
  one("-k", it->k, "K", "How many may be inside")->required();
  o->add_option("--property", it->properties, "What to look for, repeatable; else what is promised")
      ->type_name("P")
      ->allow_extra_args(false);
  one("--crashes", it->crashes, "F", "At most F crashes; default as progress is promised");
  one("--walks", it->walks, "W", "How many runs are tried; default 100000");
  one("--passages", it->passages, "M", "Passages of all together in a run; default 20");
  one("--passages-each", it->passages_each, "M", "Passages of each process; default unlimited, 2 on safe\nregisters");
  one("--time-max", it->time_max, "D", "As in 30s or 5m; default no limit");
  one("--memory-max", it->memory_max, "B", "As in 500M or 2G; default 75 % of the memory");
  one("--seed", it->seed, "R", "The same seed makes the same runs; default 1");
  one("--memory", it->memory, "sc|safe", "Atomic registers, or safe ones; default what the\nalgorithm is for");
  one("--forall", it->order, "any|ascending", "In which order to do what the text does 'for all';\ndefault ascending");
  o->add_option("--mutate", it->mutations, "Make an error, as for check")->type_name("M")->allow_extra_args(false);
  one("--trace", it->trace, "FILE", "Write the counterexample there, for replay");
  o->add_flag("--json", it->json, "The result for programs");
  o->footer(
      fmt::format("Properties: {}.\n", wrapped(fmt::format("{}", fmt::join(lab::searched_properties(), ", ")), 2, 64)) +
      "Runs put processes to sleep before they write and in their doorways. What is\n"
      "found is made shorter. Exit code 1 if something is found, else 3: a search\n"
      "excludes nothing.\n"
      "\n"
      "Examples:\n"
      "  kgate-lab search choi11-one-update -N 4 -k 3 --property starvation-free\n"
      "  kgate-lab search am97-chain-cc -N 8 -k 3 --mutate drop:8 --time-max 5s\n"
      "  kgate-lab search kgate -N 6 -k 2 --property bounded-waiting:0 --walks 500\n");
  return {o, [it] { return run(*it); }};
}

}  // namespace kgate::tool
