// SPDX-License-Identifier: Apache-2.0
#include "tools/kgate-lab/arguments.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "lab/checker/claims/formula.hpp"
#include "lab/checker/graph/graph.hpp"
#include "lab/checker/properties/check.hpp"
#include "lab/checker/trace/fairness_trace.hpp"
#include "lab/models/models.hpp"
#include "tools/common/numbers.hpp"
#include "tools/kgate-lab/exit_code.hpp"
#include "tools/kgate-lab/output/catalog_text.hpp"
#include "tools/kgate-lab/output/text.hpp"
#include "tools/kgate-lab/own_text/text_file.hpp"
#include "tools/kgate-lab/system_memory.hpp"

namespace kgate::tool {

namespace {

std::vector<std::string> known_ids(bool with_names) {
  std::vector<std::string> ids;
  for (const catalog::row* row : lab::algorithm_rows())
    ids.push_back(std::string(row->id) + (with_names ? "+names" : ""));
  return ids;
}

/// The text's constructor runs twice, and must make the same both times.
std::unique_ptr<lab::model> make_model(const instance& of, const lab::program_name& name, lab::run_monitor& monitor) {
  lab::register_kind registers = name.safe_registers ? lab::safe_registers(of.N, name.passages) : lab::register_kind{};
  registers.any_order = name.any_order;
  const lab::monitored_part runs(monitor, "constructor");
  try {
    auto first = lab::make_model(of.algorithm, of.N, of.k, registers);
    const auto again = lab::make_model(of.algorithm, of.N, of.k, registers);
    bool same = first->memory.size() == again->memory.size();
    for (int v = 0; same && v < first->memory.size(); ++v)
      same = first->memory.at(v).name == again->memory.at(v).name &&
             first->memory.at(v).home == again->memory.at(v).home &&
             first->memory.at(v).values.bytes(0) == again->memory.at(v).values.bytes(0);
    if (!same) throw usage_error("the text's constructor does not make the same variables every time");
    return first;
  } catch (const usage_error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::invalid_argument&) {
    throw;
  } catch (const std::exception& e) {
    throw usage_error(fmt::format("the text's constructor throws an exception: {}", e.what()));
  } catch (...) {
    throw usage_error("the text's constructor throws something");
  }
}

}  // namespace

int parse_number(std::string_view option, const std::string& text, int min, int max) {
  const auto value = parse_whole_number(text);
  if (!value || *value < min || *value > max)
    throw usage_error(fmt::format("{} needs a whole number from {} to {}, not '{}'", option, min, max, text));
  return static_cast<int>(*value);
}

std::uint64_t parse_size(std::string_view option, const std::string& text) {
  constexpr double k = 1024;
  const auto value = parse_quantity(text, {{"", 1}, {"K", k}, {"M", k * k}, {"G", k * k * k}, {"T", k * k * k * k}});
  if (!value || *value < k * k || *value > 1e18)
    throw usage_error(fmt::format("{} needs a size of at least 1M, as in 500M or 2G, not '{}'", option, text));
  return static_cast<std::uint64_t>(*value);
}

std::uint64_t parse_memory_max(const std::optional<std::string>& text) {
  return text ? parse_size("--memory-max", *text) : system_memory() / 4 * 3;
}

double parse_duration(std::string_view option, const std::string& text) {
  const auto value = parse_seconds(text);
  if (!value || *value <= 0 || *value > 1e9)
    throw usage_error(
        fmt::format("{} needs a duration above zero, as in 250ms, 30s, 5m or 1h, not '{}'", option, text));
  return *value;
}

catalog::choice parse_algorithm(const std::string& id) {
  if (is_text_file(id)) return load_text_file(id);
  if (const catalog::choice found = lab::find_algorithm(id)) return found;
  const auto near = nearest(id, known_ids(id.ends_with("+names")), 3);
  throw usage_error(
      fmt::format("unknown algorithm '{}'; nearest are {}; 'kgate-lab list' shows all", id, fmt::join(near, ", ")));
}

instance checked_instance(const std::string& algorithm, long long N, long long k) {
  const catalog::choice chosen = parse_algorithm(algorithm);
  if (const std::string error = catalog::limits_error(*chosen.base, N, k); !error.empty()) throw usage_error(error);
  if (N > lab::graph_processes_max)
    throw usage_error(fmt::format("the checker takes at most {} processes, but N = {}", lab::graph_processes_max, N));
  return {chosen, static_cast<int>(N), static_cast<int>(k)};
}

instance parse_instance(const std::string& algorithm, const std::string& N, const std::string& k) {
  const catalog::choice chosen = parse_algorithm(algorithm);
  const auto number = [&](const char* option, const std::string& text) {
    if (const auto value = parse_whole_number(text)) return *value;
    throw usage_error(fmt::format("{} needs a whole number, with 1 <= k <= N <= {}, not '{}'", option,
                                  std::min(chosen.base->allowed.N_max, lab::graph_processes_max), text));
  };
  const long long processes = number("-N", N);
  return checked_instance(algorithm, processes, number("-k", k));
}

bool parse_memory(const std::string& text) {
  if (text == "safe") return true;
  if (text == "sc") return false;
  throw usage_error(fmt::format("--memory needs sc or safe, not '{}'", text));
}

bool parse_order(const std::string& text) {
  if (text == "any") return true;
  if (text == "ascending") return false;
  throw usage_error(fmt::format("--forall needs any or ascending, not '{}'", text));
}

std::unique_ptr<lab::program> make_program(const instance& of, const lab::program_name& name,
                                           lab::program_options options) {
  if (name.safe_registers && name.passages == 0)
    throw usage_error("safe registers need a limit on passages: --passages 1 or more");
  if (name.safe_registers && of.algorithm.primitives() != catalog::reads_and_writes)
    throw usage_error(fmt::format("safe registers can only be read and written, and {} needs {}", of.algorithm.id(),
                                  catalog::to_string(of.algorithm.primitives())));
  options.passages = name.passages;
  options.wrong = name.wrong;
  try {
    auto model = make_model(of, name, *options.monitor);
    bool chooses = false;
    for (int v = 0; v < model->memory.size(); ++v) chooses = chooses || model->memory.at(v).name == "forall";
    if (name.any_order && !chooses)
      throw usage_error(fmt::format("{} does nothing 'for all' in an order that could be chosen; leave --forall out",
                                    of.algorithm.id()));
    return std::make_unique<lab::program>(std::move(model), of.N, of.k, std::move(options));
  } catch (const std::invalid_argument& e) {
    throw usage_error(e.what());
  } catch (const lab::text_error& e) {
    throw usage_error(e.what());
  }
}

std::string parse_property(const std::string& text) {
  if (lab::find_property(text) != nullptr || lab::parse_formula_property(text)) return text;
  if (lab::overtakings_allowed(text) || lab::passings_allowed(text)) return text;
  throw usage_error(fmt::format("unknown property '{}'; allowed are {}, and formulas, as in 'ltl: [] #inside <= 2'",
                                text, fmt::join(lab::property_ids(), ", ")));
}

void check_mutation(const catalog::choice& algorithm, const lab::mutation& wrong) {
  std::vector<std::string> labels;
  for (const embedded_source& source : sources_of(algorithm)) {
    if (source.text.find('"' + wrong.label + '"') != std::string_view::npos) return;
    for (const auto& [label, line] : labels_of(source.text))
      if (std::find(labels.begin(), labels.end(), label) == labels.end()) labels.push_back(label);
  }
  throw usage_error(fmt::format("{} has no statement labelled '{}'; its labels are {}", algorithm.id(), wrong.label,
                                fmt::join(labels, ", ")));
}

void require_names(const catalog::choice& algorithm, std::string_view property) {
  if (property == "distinct-names" && !algorithm.promise().names)
    throw usage_error(fmt::format("{0} gives no names; check {0}+names for distinct-names", algorithm.id()));
}

lab::mutation parse_mutation(const catalog::choice& algorithm, const std::string& text) {
  lab::mutation wrong;
  try {
    wrong = lab::mutation::parse(text);
  } catch (const std::invalid_argument& e) {
    throw usage_error(e.what());
  }
  check_mutation(algorithm, wrong);
  return wrong;
}

}  // namespace kgate::tool
