// SPDX-License-Identifier: Apache-2.0
// kgate-lab mutate: makes errors in an algorithm, one at a time, and lists those that no promise notices.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <random>

#include "lab/checker/explore/memory_limit.hpp"
#include "lab/checker/model/coverage.hpp"
#include "lab/checker/properties/check.hpp"
#include "lab/models/models.hpp"
#include "lab/models/promises.hpp"
#include "tools/kgate-lab/arguments.hpp"
#include "tools/kgate-lab/commands/commands.hpp"
#include "tools/kgate-lab/interrupt.hpp"
#include "tools/kgate-lab/output/provenance.hpp"
#include "tools/kgate-lab/output/terminal.hpp"
#include "tools/kgate-lab/output/text.hpp"
#include "tools/kgate-lab/own_text/text_file.hpp"
#include "tools/kgate-lab/text_mutants/text_mutants.hpp"
#include "tools/kgate-lab/watched_program.hpp"

namespace kgate::tool {

namespace {

constexpr int passages_default = 1;  ///< of algorithms with unbounded variables

struct command_options {
  std::string algorithm, N, k, passages, time_max = "20s", memory_max = "1G", sample, seed = "1";
  bool all = false, text = false, json = false;
};

struct mutant {
  instance of;
  lab::mutation wrong;
  fate is = fate::undecided;
  std::string why;  ///< the property that noticed it, or the limit that was reached
};

/// Of each mutant.
lab::run_limits limits_of(const command_options& a) {
  lab::run_limits limits;
  limits.interrupted = &catch_interrupts();
  limits.memory_max = parse_memory_max(a.memory_max);
  limits.seconds_max = parse_duration("--time-max", a.time_max);
  return limits;
}

std::uint64_t seed_of(const command_options& a) {
  return static_cast<std::uint64_t>(parse_number("--seed", a.seed, 0, 1'000'000'000));
}

int passages_for(const instance& of, const command_options& a) {
  if (!a.passages.empty()) return parse_number("--passages", a.passages, 1, 1'000'000);
  const bool bounded = of.algorithm.base->bounded_variables && of.algorithm.base->needs == catalog::registers::atomic;
  return bounded ? 0 : passages_default;
}

lab::check_result check(const instance& of, const std::vector<lab::mutation>& wrong, const command_options& a) {
  lab::check_request request;
  request.of = {of.algorithm.id(),   of.N,  of.k,
                passages_for(of, a), wrong, of.algorithm.base->needs == catalog::registers::safe};
  request.properties = lab::promised_properties(of.algorithm.promise());
  request.crashes = std::min(catalog::crashes_max(of.algorithm.promise(), of.N, of.k), of.k - 1);
  request.limits = limits_of(a);
  const lab::memory_limit limit(request.limits.memory_max);
  try {
    const watched_program program(of, request.of, request.limits.seconds_max);
    if (is_text_file(of.algorithm.id()) && (*program).has_invariant()) request.properties.emplace_back("invariant");
    return lab::check(*program, request);
  } catch (const std::bad_alloc&) {
    return lab::nothing_decided(request, "memory limit reached");
  } catch (const std::length_error& e) {  // a limit of the checker's own
    return lab::nothing_decided(request, e.what());
  } catch (const std::invalid_argument& e) {
    return lab::rules_broken(request, e.what());
  } catch (const usage_error& e) {  // the text cannot even begin with this error in it
    return lab::rules_broken(request, e.what());
  }
}

/// Every statement dropped, so that an observer sees 0, and deferred behind the next access; every observation forced
/// to other small values.
std::vector<lab::mutation> mutations_of(const lab::coverage& reached) {
  std::vector<lab::mutation> all;
  for (const auto& [label, at] : reached.labels) {
    const auto add = [&](const std::string& text) { all.push_back(lab::mutation::parse(text)); };
    add("drop:" + label);
    if (at.operation != "await") add("defer:" + label);
    if (at.operation == "write" || at.operation == "await") continue;
    for (const int value : {-1, 1, 2}) add(fmt::format("force:{}={}", label, value));
  }
  return all;
}

std::vector<mutant> mutants_of(const instance& of, const command_options& a) {
  const lab::check_result right = check(of, {}, a);
  if (catch_interrupts().load()) throw interrupted_early("interrupted before there were mutants: nothing is decided");
  for (const lab::property_result& one : right.properties)
    if (one.is != lab::verdict::holds)
      throw usage_error(fmt::format("{} at N = {} k = {} has no mutants to judge: its own {} is {}{}",
                                    of.algorithm.id(), of.N, of.k, one.name, lab::to_string(one.is),
                                    one.why.empty() ? "" : " (" + one.why + ")"));
  std::vector<mutant> all;
  for (const lab::mutation& m : mutations_of(right.reached)) all.push_back({of, m, fate::undecided, ""});
  return all;
}

void judge(mutant& m, const command_options& a) {
  const lab::check_result r = check(m.of, {m.wrong}, a);
  m.is = fate::survived;
  for (const lab::property_result& one : r.properties) {
    if (one.is == lab::verdict::violated) {
      m.is = fate::killed;
      m.why = one.name;
      return;
    }
    if (one.is == lab::verdict::undecided && m.is == fate::survived) {
      // A text that breaks the machine's rules is noticed too; a limit is not.
      m.is = r.breaks_rules ? fate::killed : fate::undecided;
      m.why = one.why;
    }
  }
}

/// The sizes of --all: rows that promise what they keep, as small as shows something.
std::vector<instance> whole_catalogue() {
  std::vector<instance> all;
  for (const catalog::row* row : lab::algorithm_rows()) {
    if (!row->native || !row->promise.starvation_free) continue;
    const bool small = row->needs == catalog::registers::safe || row->id == "afek94-bounded";
    const int k = std::min(small ? 1 : 2, row->allowed.k_max);
    all.push_back({catalog::choice{row, false}, std::min(small ? 2 : 3, row->allowed.N_max), k});
  }
  return all;
}

const char* word(fate f) {
  switch (f) {
    case fate::killed:
      return "killed";
    case fate::survived:
      return "survived";
    case fate::undecided:
      return "undecided";
  }
  return "?";
}

/// S of them, chosen at random, if --sample S asks for that.
template <class Mutant>
void take_sample(std::vector<Mutant>& mutants, const command_options& a) {
  if (a.sample.empty()) return;
  const auto wanted = static_cast<std::size_t>(parse_number("--sample", a.sample, 1, 1'000'000));
  std::mt19937 random(static_cast<std::uint32_t>(seed_of(a)));
  std::shuffle(mutants.begin(), mutants.end(), random);
  mutants.resize(std::min(wanted, mutants.size()));
}

template <class Mutant>
std::ptrdiff_t count(const std::vector<Mutant>& mutants, fate f) {
  return std::count_if(mutants.begin(), mutants.end(), [&](const Mutant& m) { return m.is == f; });
}

template <class Mutant>
exit_code code_of(const std::vector<Mutant>& mutants) {
  if (count(mutants, fate::survived) > 0) return exit_code::violated;
  const bool all = count(mutants, fate::undecided) == 0 && !catch_interrupts().load();
  return all ? exit_code::holds : exit_code::undecided;
}

/// What both kinds of mutants have in their JSON.
template <class Mutant>
nlohmann::json counts_of(const std::vector<Mutant>& mutants, std::size_t made, const command_options& a) {
  nlohmann::json j{
      {"made", made}, {"judged", mutants.size()}, {"mutants", nlohmann::json::array()}, {"sample", !a.sample.empty()}};
  add_provenance(j, limits_of(a), seed_of(a));
  for (const fate f : {fate::killed, fate::survived, fate::undecided}) j[word(f)] = count(mutants, f);
  return j;
}

template <class Mutant>
std::string heading(const std::vector<Mutant>& mutants) {
  return fmt::format("{}: {} killed, {} survived, {} undecided\n", count_text(mutants.size(), "mutant", "mutants"),
                     count(mutants, fate::killed), count(mutants, fate::survived), count(mutants, fate::undecided));
}

void check_size(const text_target& of, const command_options& a) {
  const text_size& first = of.sizes.front();
  if ((!a.N.empty() && a.N != std::to_string(first.N)) || (!a.k.empty() && a.k != std::to_string(first.k)) ||
      !a.passages.empty())
    throw usage_error(
        fmt::format("the texts of {} are judged at sizes of their own, first N = {} k = {}; leave -N, -k "
                    "and --passages out",
                    of.id, first.N, first.k));
}

/// The texts that are changed: of the row, of the file, or all.
std::vector<text_target> targets_of(const command_options& a) {
  if (!a.all && is_text_file(a.algorithm)) {
    if (a.N.empty() || a.k.empty()) throw usage_error("mutate --text of a file needs -N and -k");
    const instance of = parse_instance(a.algorithm, a.N, a.k);
    const int passages =
        of.algorithm.base->needs == catalog::registers::safe ? std::max(1, passages_for(of, a)) : passages_for(of, a);
    return {target_in_file(of.algorithm, {of.N, of.k, passages})};
  }
  std::vector<text_target> some;
  for (const text_target& of : text_targets())
    if (a.all || of.id == a.algorithm) {
      check_size(of, a);
      some.push_back(of);
    }
  return some;
}

exit_code run_texts(const command_options& a) {
  const std::vector<text_target> targets = targets_of(a);
  std::vector<text_mutant> mutants;
  for (const text_target& of : targets) {
    auto more = mutants_of(of);
    mutants.insert(mutants.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  }
  if (mutants.empty()) {
    std::vector<std::string_view> known;
    for (const text_target& of : text_targets())
      if (known.empty() || known.back() != of.id) known.push_back(of.id);
    throw usage_error(
        fmt::format("no texts of '{}' are changed; those of {} are", a.algorithm, fmt::join(known, ", ")));
  }
  const std::size_t made = mutants.size();
  take_sample(mutants, a);
  const lab::run_limits limits = limits_of(a);
  std::vector<text_mutant> judged;
  for (const text_target& of : targets) {
    std::vector<text_mutant> some;
    for (const text_mutant& m : mutants)
      if (m.of == &of) some.push_back(m);
    judge(some, {limits.seconds_max, limits.memory_max});
    judged.insert(judged.end(), some.begin(), some.end());
  }
  if (a.json) {
    nlohmann::json j = counts_of(judged, made, a);
    for (const text_mutant& m : judged)
      j["mutants"].push_back({{"algorithm", m.of->id},
                              {"N", m.at.N},
                              {"k", m.at.k},
                              {"passages", m.at.passages},
                              {"header", m.of->header},
                              {"kind", m.kind},
                              {"change", m.change},
                              {"seconds", m.seconds},
                              {"fate", word(m.is)},
                              {"why", m.why}});
    print(j.dump(2) + "\n");
    return code_of(judged);
  }
  std::string text = heading(judged);
  for (const text_mutant& m : judged)
    if (m.is != fate::killed)
      text += fmt::format("  {} {} ({}{}{})\n    {}\n", m.of->header, word(m.is), m.kind, m.why.empty() ? "" : ", ",
                          m.why, m.change);
  print(text + made_by_text(limits_of(a), seed_of(a)));
  return code_of(judged);
}

exit_code run(const command_options& a) {
  if (a.text && a.all != a.algorithm.empty()) throw usage_error("mutate --text needs an algorithm, or --all");
  if (a.text) return run_texts(a);
  if (a.all == !a.algorithm.empty()) throw usage_error("mutate needs an algorithm with -N and -k, or --all");
  std::vector<instance> instances;
  if (a.all) {
    if (!a.N.empty() || !a.k.empty()) throw usage_error("mutate --all chooses N and k itself");
    instances = whole_catalogue();
  } else {
    if (a.N.empty() || a.k.empty()) throw usage_error("mutate needs -N and -k");
    instances.push_back(parse_instance(a.algorithm, a.N, a.k));
  }
  progress_line line;
  std::vector<mutant> mutants;
  for (const instance& of : instances) {
    const auto more = mutants_of(of, a);
    mutants.insert(mutants.end(), more.begin(), more.end());
  }
  const std::size_t made = mutants.size();
  take_sample(mutants, a);
  for (mutant& m : mutants) {
    if (catch_interrupts().load()) break;
    judge(m, a);
  }
  if (a.json) {
    nlohmann::json j = counts_of(mutants, made, a);
    for (const mutant& m : mutants)
      j["mutants"].push_back({{"algorithm", m.of.algorithm.id()},
                              {"N", m.of.N},
                              {"k", m.of.k},
                              {"mutation", m.wrong.text()},
                              {"fate", word(m.is)},
                              {"why", m.why}});
    print(j.dump(2) + "\n");
    return code_of(mutants);
  }
  table rows;
  for (const mutant& m : mutants)
    if (m.is != fate::killed)
      rows.add({fmt::format("{} N={} k={}", m.of.algorithm.id(), m.of.N, m.of.k), m.wrong.text(), word(m.is), m.why});
  print(heading(mutants) + rows.text("  ") + made_by_text(limits_of(a), seed_of(a)));
  return code_of(mutants);
}

}  // namespace

command add_mutate(CLI::App& tool) {
  auto it = std::make_shared<command_options>();
  CLI::App* o = tool.add_subcommand("mutate", "Make errors, and list those that no promise notices");
  const auto one = [&](const char* name, std::string& value, const char* type, const char* text) {
    o->add_option(name, value, text)->type_name(type);
  };
  one("ALGO", it->algorithm, "", "The algorithm's id, or a FILE.hpp");
  one("-N", it->N, "N", "How many processes there are");
  one("-k", it->k, "K", "How many may be inside");
  o->add_flag("--all", it->all, "The catalogue instead of one algorithm, at small sizes");
  o->add_flag("--text", it->text, "Errors in the lines of the text, at a size of its own;\nof a FILE.hpp at -N and -k");
  one("--passages", it->passages, "M",
      "Passages of each process, if they are to be limited;\ndefault 1 where variables grow");
  one("--time-max", it->time_max, "D", "For one mutant; default 20s");
  one("--memory-max", it->memory_max, "B", "For one mutant, as in 500M or 2G; default 1G");
  one("--sample", it->sample, "S", "Judge S of the mutants, chosen at random");
  one("--seed", it->seed, "R", "Of that choice; default 1");
  o->add_flag("--json", it->json, "The result for programs");
  o->footer(
      "Each statement is dropped, deferred behind the next access, and made to observe\n"
      "-1, 1 and 2; what the algorithm promises is judged each time. Exit code 1 if\n"
      "one survives: it changes nothing, or nothing that these N and k show.\n"
      "With --text lines of the algorithm's source are changed instead: accesses left\n"
      "out or swapped, comparisons, constants, conditions, initial values, homes.\n"
      "\n"
      "Examples:\n"
      "  kgate-lab mutate mcs -N 2 -k 1\n"
      "  kgate-lab mutate fa-semaphore --text\n"
      "  kgate-lab mutate am97-chain-cc -N 3 -k 2 --sample 10 --json\n");
  return {o, [it] { return run(*it); }};
}

}  // namespace kgate::tool
