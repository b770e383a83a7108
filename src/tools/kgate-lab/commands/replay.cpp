// SPDX-License-Identifier: Apache-2.0
// kgate-lab replay: runs a trace again and judges whether it shows what it claims.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "lab/checker/properties/check.hpp"
#include "lab/checker/trace/trace.hpp"
#include "lab/models/models.hpp"
#include "lab/report/page.hpp"
#include "tools/kgate-lab/arguments.hpp"
#include "tools/kgate-lab/commands/commands.hpp"
#include "tools/kgate-lab/output/catalog_text.hpp"
#include "tools/kgate-lab/output/page_file.hpp"
#include "tools/kgate-lab/output/provenance.hpp"
#include "tools/kgate-lab/output/terminal.hpp"
#include "tools/kgate-lab/output/text.hpp"
#include "tools/kgate-lab/watched_program.hpp"

namespace kgate::tool {

namespace {

using given = std::optional<std::string>;

/// What the user wrote, word for word.
struct command_options {
  given file;
  given algorithm, N, k, passages, memory, order;
  std::vector<std::string> mutations;
  given property, victim, crashed, loop, schedule;
  given html;
  bool json = false;

  /// Whether an option says something about the trace.
  bool describes() const {
    return algorithm || N || k || passages || memory || order || !mutations.empty() || property || victim || crashed ||
           loop || schedule;
  }
};

constexpr int number_max = 1'000'000'000;

constexpr std::size_t trace_bytes_max = std::size_t{64} << 20;

std::string read_whole(const std::string& path) {
  try {
    std::ifstream in;
    in.exceptions(std::ios::badbit);
    in.open(path, std::ios::binary);
    std::string text;
    std::array<char, 1 << 16> part;
    while (in.read(part.data(), part.size()) || in.gcount() > 0) {
      text.append(part.data(), static_cast<std::size_t>(in.gcount()));
      if (text.size() > trace_bytes_max)
        throw usage_error(fmt::format("'{}' is too long for a trace: more than 64 MB", path));
    }
    if (in.eof()) return text;
  } catch (const std::ios::failure&) {
    // A folder opens and cannot be read; errno says so.
  }
  throw usage_error(fmt::format("cannot read '{}': {}", path, std::strerror(errno)));
}

/// Numbers in a trace are whole and small; anything else would be cut off silently.
void check_numbers(const nlohmann::json& j) {
  const auto whole = [](const nlohmann::json& n) { return n.is_number_integer() && n >= -1 && n <= number_max; };
  for (const auto& [field, least] : {std::pair{"N", 1}, {"k", 1}, {"passages", 0}, {"loop", -1}, {"victim", -1}})
    if (j.contains(field) && !(j[field].is_number_integer() && j[field] >= least && j[field] <= number_max))
      throw std::invalid_argument(
          fmt::format("a malformed trace: \"{}\" is not a whole number from {} to {}", field, least, number_max));
  for (const char* field : {"schedule", "crashed"})
    if (j.contains(field) && j[field].is_array())
      for (const auto& n : j[field])
        if (!whole(n))
          throw std::invalid_argument(fmt::format("a malformed trace: \"{}\" holds more than process numbers", field));
}

/// What the run shows if it shows what it is said to; what a file says of it is not taken over.
std::string violation_text(const lab::trace& t) {
  return t.victim < 0 ? fmt::format("{} is violated", t.property)
                      : fmt::format("{} is violated for process {}", t.property, t.victim);
}

lab::trace trace_from_file(const std::string& path) {
  const std::string text = read_whole(path);
  try {
    const nlohmann::json j = nlohmann::json::parse(text);
    if (j.is_object()) check_numbers(j);
    lab::trace t = lab::trace_from_json(j);
    t.what = violation_text(t);
    return t;
  } catch (const nlohmann::json::parse_error& e) {
    throw usage_error(text.empty() ? fmt::format("'{}' is not a trace file: it is empty", path)
                                   : fmt::format("'{}' is not a trace file: no JSON, from byte {} on", path, e.byte));
  } catch (const nlohmann::json::exception&) {
    throw usage_error(fmt::format("'{}' is not a trace file", path));
  } catch (const std::invalid_argument& e) {
    throw usage_error(fmt::format("'{}': {}", path, e.what()));
  }
}

std::vector<int> process_list(const std::string& option, const std::string& text, int N) {
  std::vector<int> all;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    try {
      all.push_back(parse_number(option, text.substr(at, end - at), 0, N - 1));
    } catch (const usage_error&) {
      throw usage_error(fmt::format("{} needs process numbers from 0 to {}, as in 0,1, not '{}'", option, N - 1, text));
    }
    at = end + 1;
  }
  return all;
}

lab::trace trace_from_options(const command_options& a) {
  for (const auto& [option, value] : {std::pair{"--algorithm", &a.algorithm},
                                      {"-N", &a.N},
                                      {"-k", &a.k},
                                      {"--property", &a.property},
                                      {"--schedule", &a.schedule}})
    if (!*value)
      throw usage_error(fmt::format(
          "replay needs a trace FILE, or --algorithm, -N, -k, --property and --schedule; {} is missing", option));
  const instance of = parse_instance(*a.algorithm, *a.N, *a.k);
  lab::trace t;
  t.of = {of.algorithm.id(), of.N, of.k, 0, {}, a.memory && parse_memory(*a.memory), a.order && parse_order(*a.order)};
  if (a.passages) t.of.passages = parse_number("--passages", *a.passages, 1, number_max);
  for (const std::string& text : a.mutations) t.of.wrong.push_back(parse_mutation(of.algorithm, text));
  t.property = parse_property(*a.property);
  try {
    t.schedule = lab::parse_schedule(*a.schedule);
  } catch (const std::invalid_argument& e) {
    throw usage_error(e.what());
  }
  if (a.victim) t.victim = parse_number("--victim", *a.victim, 0, of.N - 1);
  if (a.crashed) t.crashed = process_list("--crashed", *a.crashed, of.N);
  if (a.loop) t.loop = parse_number("--loop", *a.loop, 0, static_cast<int>(t.schedule.size()));
  t.what = violation_text(t);
  return t;
}

/// What can be wrong with a trace before it is run.
instance checked(const lab::trace& t) {
  const instance of = checked_instance(t.of.algorithm, t.of.N, t.of.k);
  const auto process = [&](int p, const char* what) {
    if (p < 0 || p >= of.N)
      throw usage_error(fmt::format("the {} names process {}; allowed are 0 to {}", what, p, of.N - 1));
  };
  if (t.of.passages < 0) throw usage_error("a trace needs passages of at least 1, or 0 for no limit");
  for (const lab::mutation& m : t.of.wrong) check_mutation(of.algorithm, m);
  parse_property(t.property);
  require_names(of.algorithm, t.property);
  for (const int entry : t.schedule) process(entry < 0 ? entry : lab::scheduled_process(entry), "schedule");
  for (const int p : t.crashed) process(p, "list of crashed processes");
  if (t.victim >= 0) process(t.victim, "victim");
  if (t.loop > static_cast<int>(t.schedule.size()))
    throw usage_error(fmt::format("the loop starts at step {}; allowed are 0 to {}", t.loop, t.schedule.size()));
  return of;
}

/// As much of the trace as can be run: a program that has changed may not be able to make every step.
lab::trace possible_part(const lab::trace& t, lab::program& program) {
  lab::trace part = t;
  lab::walker walker(program);
  for (std::size_t i = 0; i < t.schedule.size(); ++i) {
    const int entry = t.schedule[i];
    if (!lab::cannot_step(entry, walker, i).empty()) {
      part.schedule.resize(i);
      break;
    }
    walker.step(lab::scheduled_process(entry), lab::scheduled_choice(entry));
  }
  if (part.loop > static_cast<int>(part.schedule.size())) part.loop = -1;
  return part;
}

exit_code run(const command_options& a) {
  if (a.file && a.describes())
    throw usage_error("replay needs a trace FILE or the options that describe a trace, not both");
  const lab::trace t = a.file ? trace_from_file(*a.file) : trace_from_options(a);
  const instance of = checked(t);
  std::optional<page_file> page;
  if (a.html) page.emplace("--html", *a.html);
  const watched_program made(of, t.of);
  lab::program& program = *made;
  std::string wrong;
  try {
    wrong = lab::validate(t, program);
  } catch (const std::invalid_argument& e) {
    throw usage_error(e.what());  // the algorithm does what the memory cannot
  }
  lab::trace part = possible_part(t, program);
  const exit_code code = wrong.empty() ? exit_code::violated : exit_code::undecided;
  if (!wrong.empty()) part.what = fmt::format("this does not show that {} is violated: {}", t.property, wrong);
  if (page) {
    nlohmann::json shown = lab::to_json(part, program);
    shown["text"] = texts_json(of.algorithm);
    shown["made_by"] = provenance();
    page->write(lab::report::viewer_page(shown));
  }
  if (a.json) {
    part.what = t.what;
    nlohmann::json j = lab::to_json(part, program);
    j["verdict"] = wrong.empty() ? "violated" : "undecided";
    j["shows"] = wrong.empty();
    if (!wrong.empty()) j["why"] = wrong;
    j["made_by"] = provenance();
    print(j.dump(2) + "\n");
    return code;
  }
  std::string text = fmt::format("{}  N={} k={}, {}\n", coloured(t.of.algorithm, colour::bold), t.of.N, t.of.k,
                                 count_text(part.schedule.size(), "step", "steps"));
  text += lab::describe(part, program);
  text += fmt::format("{}: {}\n", t.property,
                      wrong.empty() ? coloured("violated", colour::red) : coloured("undecided", colour::yellow));
  print(text);
  return code;
}

}  // namespace

command add_replay(CLI::App& tool) {
  auto it = std::make_shared<command_options>();
  CLI::App* o = tool.add_subcommand("replay", "Run a counterexample again, step by step");
  const auto one = [&](const char* name, given& value, const char* type, const char* text) {
    return o->add_option(name, value, text)->type_name(type);
  };
  one("FILE", it->file, "", "A trace that check --trace has written");
  one("--algorithm", it->algorithm, "ALGO", "Instead of a file: the algorithm's id");
  one("-N", it->N, "N", "How many processes there are");
  one("-k", it->k, "K", "How many may be inside");
  one("--passages", it->passages, "M", "Passages of each process; default unlimited");
  o->add_option("--mutate", it->mutations, "The error made on purpose, as for check")
      ->type_name("M")
      ->allow_extra_args(false);
  one("--property", it->property, "P", "What the run is to violate");
  one("--memory", it->memory, "sc|safe", "Atomic registers, the default, or safe ones");
  one("--forall", it->order, "any|ascending", "The order of what is done 'for all'; default ascending");
  one("--victim", it->victim, "I", "The process that does not get on");
  one("--crashed", it->crashed, "I,J", "The processes that crash");
  one("--loop", it->loop, "S", "The steps after step S repeat for ever");
  one("--schedule", it->schedule, "0,1x3",
      "Who steps: process 0, three times process 1 ...\n(2?4: process 2 reads choice 4 during a write)");
  one("--html", it->html, "FILE", "Write a page there that steps through the run");
  o->add_flag("--json", it->json, "The steps for programs");
  o->footer(
      "Exit code: 1 if the run shows the violation, 3 if it does not (or no longer),\n"
      "2 if the trace cannot be read.\n"
      "\n"
      "Examples:\n"
      "  kgate-lab check fa-semaphore -N 2 -k 1 --trace starved.json\n"
      "  kgate-lab replay starved.json\n"
      "  kgate-lab replay starved.json --html starved.html\n"
      "  kgate-lab replay --algorithm am97-chain-cc -N 2 -k 1 --property k-exclusion \\\n"
      "                   --mutate drop:5 --schedule 0,1x3\n");
  return {o, [it] { return run(*it); }};
}

}  // namespace kgate::tool
