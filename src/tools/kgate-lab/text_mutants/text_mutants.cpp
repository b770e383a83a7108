// SPDX-License-Identifier: Apache-2.0
#include "tools/kgate-lab/text_mutants/text_mutants.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <deque>
#include <filesystem>
#include <memory>
#include <new>
#include <regex>
#include <set>
#include <stdexcept>

#include "lab/checker/explore/memory_limit.hpp"
#include "lab/checker/model/run_monitor.hpp"
#include "lab/checker/properties/check.hpp"
#include "lab/checker/properties/schedule_search.hpp"
#include "lab/experiments/rmr_table.hpp"
#include "lab/models/models.hpp"
#include "lab/models/promises.hpp"
#include "lab/models/text_plugin.hpp"
#include "lab/rmr/worst_case.hpp"
#include "tools/kgate-lab/embedded_sources.hpp"
#include "tools/kgate-lab/exit_code.hpp"
#include "tools/kgate-lab/interrupt.hpp"
#include "tools/kgate-lab/own_text/text_file.hpp"
#include "tools/kgate-lab/own_text/unit.hpp"
#include "tools/kgate-lab/supervisor.hpp"
#include "tools/kgate-lab/text_mutants/text_mutations.hpp"

namespace kgate::tool {

namespace {

constexpr std::size_t batch = 40;  ///< mutants in a translation unit

std::string_view header_text(std::string_view name) {
  for (const embedded_source& source : embedded_sources())
    if (source.name == name) return source.text;
  throw std::logic_error(fmt::format("no text {}", name));
}

/// The text that is changed.
std::string_view changed_text(const text_target& of) {
  if (is_text_file(of.id)) return text_of(*parse_algorithm(std::string(of.id)).base);
  return header_text(of.header);
}

/// The row's headers from the one that is changed to those made of it, in the order in which they can be compiled.
std::vector<std::string_view> pasted_headers(const text_target& of) {
  const auto& headers = parse_algorithm(std::string(of.id)).base->headers;
  std::vector<std::string_view> all;
  for (const std::string_view header : headers) {
    if (header.empty()) break;
    all.insert(all.begin(), header);
    if (header == of.header) return all;
  }
  return {of.header};  // around the row, as names are
}

/// "kgate::am97"; empty if the text has none such.
std::string namespace_of(std::string_view text) {
  std::size_t at = text.find("\nnamespace kgate");
  if (at == std::string_view::npos) return "";
  at += 11;
  return std::string(text.substr(at, text.find(' ', at) - at));
}

/// The text as it can stand in a translation unit many times.
std::string in_namespace(std::string_view text, const std::string& inner) {
  static const std::regex directives("(^|\n)#(pragma once|include [^\n]*)");
  std::string plain = std::regex_replace(std::string(text), directives, "$1");
  const std::string outer = namespace_of(text);
  if (outer.empty()) return fmt::format("namespace {} {{\n{}\n}}\n", inner, plain);
  const std::string opening = "\nnamespace " + outer + " {", nested = "\nnamespace " + outer + "::" + inner + " {";
  for (std::size_t at = 0; (at = plain.find(opening, at)) != std::string::npos; at += opening.size())
    plain.replace(at, opening.size(), nested);
  return plain;
}

std::string includes_of(std::string_view text) {
  static const std::regex directive("(^|\n)(#include [^\n]*)");
  const std::string whole(text);
  std::string all;
  for (std::sregex_iterator it(whole.begin(), whole.end(), directive), last; it != last; ++it)
    all += (*it)[2].str() + "\n";
  return all;
}

std::string unit_of(const text_target& of, const std::vector<const text_mutant*>& mutants) {
  std::string unit = "#include \"kgate/algorithms/am97_names.hpp\"\n";
  for (const std::string_view header : parse_algorithm(std::string(of.id)).base->headers)
    if (!header.empty()) unit += fmt::format("#include \"kgate/algorithms/{}\"\n", header);
  if (is_text_file(of.id)) unit += includes_of(changed_text(of));
  unit += "#include \"lab/models/text_plugin.hpp\"\n";
  const std::string name = namespace_of(changed_text(of)), outer = name.empty() ? "" : "::" + name;
  std::string list;
  for (std::size_t i = 0; i < mutants.size(); ++i) {
    const std::string inner = fmt::format("mutant_{}", i);
    unit += fmt::format("#line 1 \"{}\"\n", inner);
    for (const std::string_view header : pasted_headers(of))
      unit += in_namespace(header == of.header ? std::string_view(mutants[i]->text) : header_text(header), inner);
    unit += fmt::format("namespace {}{}{} {{\ntemplate <class M>\nusing chosen_text = {};\n}}\n", name,
                        name.empty() ? "" : "::", inner, of.algorithm);
    list += fmt::format("#line 1 \"{1}\"\n      make_text_plugin<{0}::{1}::chosen_text<checker_machine>>(),\n", outer,
                        inner);
  }
  return unit + fmt::format(
                    "extern \"C\" const kgate::lab::text_plugin* kgate_lab_texts() {{\n"
                    "  using namespace kgate::lab;\n"
                    "  static const text_plugin all[] = {{\n{}  }};\n  return all;\n}}\n",
                    list);
}

/// The mutants that the compiler's errors name.
std::set<std::size_t> named_in(const std::string& said) {
  static const std::regex name("mutant_([0-9]+)");
  std::set<std::size_t> all;
  for (std::size_t at = 0; at < said.size();) {
    const std::size_t end = std::min(said.find('\n', at), said.size());
    const std::string line = said.substr(at, end - at);
    std::smatch found;
    if (line.find("error") != std::string::npos && std::regex_search(line, found, name))
      all.insert(static_cast<std::size_t>(std::stoul(found[1])));
    at = end + 1;
  }
  return all;
}

/// Compiles the mutants; those that do not compile are taken out.
const lab::text_plugin* compile(const text_target& of, std::vector<const text_mutant*>& mutants) {
  while (!mutants.empty()) {
    std::vector<std::filesystem::path> folders;
    if (is_text_file(of.id)) folders.push_back(std::filesystem::absolute(of.header).parent_path());
    const loaded_unit unit = load_unit(unit_of(of, mutants), folders);
    if (unit.library != nullptr)
      return reinterpret_cast<const lab::text_plugin* (*)()>(dlsym(unit.library, "kgate_lab_texts"))();
    const std::set<std::size_t> wrong = named_in(unit.made.said);
    if (wrong.empty())
      throw std::runtime_error(fmt::format("mutants of {} do not compile:\n{}", of.header, unit.made.said));
    for (auto it = wrong.rbegin(); it != wrong.rend(); ++it)
      mutants.erase(mutants.begin() + static_cast<std::ptrdiff_t>(*it));
  }
  return nullptr;
}

struct judgement {
  fate is = fate::undecided;
  std::string why;
};

bool claims_local_memory(const text_target& of) {
  const text_size& size = of.sizes.front();
  const auto claim =
      catalog::rmr_claimed(parse_algorithm(std::string(of.id)), catalog::rmr_model::dsm, size.N, size.k, size.N);
  return claim && claim->count != catalog::unbounded;
}

/// Whether a passage costs more remote references than the row claims, alone or among others: how a wrong home shows,
/// and a short way that is never taken.
std::string dearer_than_claimed(const text_size& of, const catalog::choice& row, lab::program& p,
                                const text_limits& within) {
  lab::run_limits limits;
  limits.seconds_max = within.seconds_max;
  limits.memory_max = within.memory_max;
  for (const lab::memory_model model : {lab::memory_model::cc, lab::memory_model::dsm})
    for (int contention = 1; contention <= of.N; ++contention) {
      const auto claim = catalog::rmr_claimed(row, lab::claimed_model(model), of.N, of.k, contention);
      if (!claim || claim->count == catalog::unbounded) continue;
      const lab::rmr_result r = lab::worst_rmr(p, lab::cost_model{.model = model}, contention, limits);
      if (r.unbounded || r.worst > claim->count)
        return fmt::format("remote references on {}", model == lab::memory_model::dsm ? "DSM" : "CC");
    }
  return "";
}

/// What random runs find. That they find nothing says little by itself: it comes after an exploration.
judgement judge_by_walks(const text_size& of, const catalog::choice& row, lab::program& p,
                         const lab::check_request& request) {
  lab::search_options options;
  options.properties = lab::searched_promises(row);
  options.crashes = request.crashes;
  options.walks = static_cast<std::uint64_t>(of.walks);
  options.seconds_max = request.limits.seconds_max;
  const lab::search_result r = lab::search_schedules(p, request.of, options);
  if (r.found) return {fate::killed, r.found->property};
  return r.walks < options.walks ? judgement{fate::undecided, "time limit reached"} : judgement{fate::survived, ""};
}

judgement judge_here(const text_mutant& m, const text_size& of, const lab::text_plugin& plugin,
                     const text_limits& within, std::shared_ptr<lab::run_monitor> monitor) {
  const catalog::choice row = parse_algorithm(std::string(m.of->id));
  const bool safe = row.base->needs == catalog::registers::safe;
  lab::check_request request;
  request.of = {std::string(m.of->id), of.N, of.k, of.passages, {}, safe};
  request.properties = lab::promised_properties(row.promise());
  request.crashes = std::min(catalog::crashes_max(row.promise(), of.N, of.k), of.k - 1);
  request.limits.memory_max = within.memory_max;
  request.limits.seconds_max = within.seconds_max;
  const lab::memory_limit limit(within.memory_max);
  try {
    lab::program_options options;
    options.passages = of.passages;
    options.monitor = std::move(monitor);
    lab::program p(plugin.make(of.N, of.k, safe ? lab::safe_registers(of.N, of.passages) : lab::register_kind{}), of.N,
                   of.k, options);
    if (is_text_file(m.of->id) && p.has_invariant()) request.properties.emplace_back("invariant");
    if (of.walks > 0) return judge_by_walks(of, row, p, request);
    const lab::check_result r = lab::check(p, request);
    judgement all{fate::survived, ""};
    for (const lab::property_result& one : r.properties) {
      if (one.is == lab::verdict::violated) return {fate::killed, one.name};
      if (one.name == "bounded-waiting" && !one.figures.empty() &&
          one.figures[0].second > row.promise().overtakings_max)
        return {fate::killed, one.name};
      // A text that breaks the machine's rules is noticed too; a limit is not.
      if (one.is == lab::verdict::undecided) all = {r.breaks_rules ? fate::killed : fate::undecided, one.why};
    }
    if (all.is == fate::survived && !safe)
      if (std::string why = dearer_than_claimed(of, row, p, within); !why.empty()) return {fate::killed, why};
    return all;
  } catch (const std::bad_alloc&) {
    return {fate::undecided, "memory limit reached"};
  } catch (const std::length_error& e) {  // a limit of the checker's own
    return {fate::undecided, e.what()};
  } catch (const std::exception& e) {  // the text cannot even begin with this error in it
    return {fate::killed, e.what()};
  }
}

void write_all(int to, const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t written = write(to, text.data() + at, text.size() - at);
    if (written <= 0) return;
    at += static_cast<std::size_t>(written);
  }
}

/// All that comes out of `from` until it closes; nothing if that takes longer.
std::optional<std::string> read_within(int from, double seconds) {
  using clock = std::chrono::steady_clock;
  const auto end = clock::now() + std::chrono::duration_cast<clock::duration>(std::chrono::duration<double>(seconds));
  std::string text;
  std::array<char, 4096> part;
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - clock::now()).count();
    if (left <= 0) return std::nullopt;
    pollfd one{from, POLLIN, 0};
    if (poll(&one, 1, static_cast<int>(std::min<long long>(left, 1000))) <= 0) continue;
    const ssize_t got = read(from, part.data(), part.size());
    if (got <= 0) return text;
    text.append(part.data(), static_cast<std::size_t>(got));
  }
}

judgement judge_apart(const text_mutant& m, const text_size& of, const lab::text_plugin& plugin,
                      const text_limits& within) {
  int ends[2];
  if (pipe(ends) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  const pid_t child = fork();
  if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (child == 0) {
    close(ends[0]);
    const auto answer = [&](const judgement& it) {
      write_all(ends[1], fmt::format("{}{}", static_cast<int>(it.is), it.why));
      end_at_once(exit_code::holds);
    };
    const auto monitor = std::make_shared<lab::run_monitor>();
    const lab::endless_run_watch watch(*monitor, {}, [&](const std::string& what) { answer({fate::killed, what}); });
    answer(judge_here(m, of, plugin, within, monitor));
  }
  close(ends[1]);
  const std::optional<std::string> said = read_within(ends[0], 4 * within.seconds_max + 60);
  close(ends[0]);
  if (!said) kill(child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!said) return {fate::undecided, "no answer"};
  if (said->empty()) return {fate::killed, "it crashes"};
  return {static_cast<fate>(said->front() - '0'), said->substr(1)};
}

/// At one size after another, until it is noticed.
void judge_at_all_sizes(text_mutant& m, const lab::text_plugin& plugin, const text_limits& within) {
  const auto begin = std::chrono::steady_clock::now();
  for (const text_size& size : m.of->sizes) {
    const judgement it = judge_apart(m, size, plugin, within);
    m.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    m.is = it.is;
    m.why = it.why;
    m.at = size;
    if (it.is == fate::killed) return;
  }
}

/// The lines of the text from the one that begins `part` to its end, at the same indentation.
std::pair<std::size_t, std::size_t> extent(std::string_view text, std::string_view part) {
  if (part.empty()) return {0, text.size()};
  std::size_t at = text.find(fmt::format("class {} ", part));
  if (at == std::string_view::npos) at = text.find(fmt::format("{}(", part));
  if (at == std::string_view::npos) throw std::logic_error(fmt::format("no part {}", part));
  const std::size_t begin = text.rfind('\n', at) + 1;
  const std::size_t indent = text.find_first_not_of(' ', begin) - begin;
  const std::size_t end = text.find("\n" + std::string(indent, ' ') + "}", begin);
  return {begin, std::min(end, text.size())};
}

}  // namespace

text_target target_in_file(const catalog::choice& algorithm, const text_size& size) {
  static std::deque<std::string> kept;
  const text_source source = *source_of(*algorithm.base);
  std::string name(source.class_name);
  if (const std::string prefix = namespace_of(source.text) + "::"; name.starts_with(prefix))
    name.erase(0, prefix.size());
  const std::string text = name + "<M>";
  const std::string_view id = kept.emplace_back(algorithm.id());
  const std::string_view chosen =
      kept.emplace_back(source.with_names ? fmt::format("::kgate::am97::names<M, {}>", text) : text);
  return {id, source.file, "", chosen, {size}};
}

std::vector<text_mutant> mutants_of(const text_target& of) {
  const std::string_view text = changed_text(of);
  const auto [begin, end] = extent(text, of.part);
  std::vector<text_mutant> all;
  for (text_mutation& m : text_mutations(text)) {
    const auto differs = static_cast<std::size_t>(
        std::mismatch(text.begin(), text.end(), m.text.begin(), m.text.end()).first - text.begin());
    if (differs < begin || differs > end || (m.kind == "home" && !claims_local_memory(of))) continue;
    all.push_back({&of, std::move(m.kind), std::move(m.change), std::move(m.text), fate::undecided, "", {}, 0});
  }
  return all;
}

void judge(std::vector<text_mutant>& mutants, const text_limits& limits) {
  if (mutants.empty()) return;
  const text_target& of = *mutants.front().of;
  const text_mutant unchanged{&of, "", "", std::string(changed_text(of)), fate::undecided, "", {}, 0};
  std::vector<text_mutant> judged;
  for (std::size_t from = 0; from < mutants.size(); from += batch) {
    std::vector<const text_mutant*> some{&unchanged};
    for (std::size_t i = from; i < std::min(mutants.size(), from + batch); ++i) some.push_back(&mutants[i]);
    const lab::text_plugin* plugins = compile(of, some);
    for (std::size_t i = 0; i < some.size() && !catch_interrupts().load(); ++i) {
      text_mutant m = *some[i];
      judge_at_all_sizes(m, plugins[i], limits);
      if (some[i] != &unchanged) {
        judged.push_back(std::move(m));
      } else if (m.is != fate::survived) {
        throw usage_error(fmt::format("{} at N = {} k = {} has no mutants to judge: {}", of.id, m.at.N, m.at.k, m.why));
      }
    }
  }
  mutants = std::move(judged);
}

}  // namespace kgate::tool
