// SPDX-License-Identifier: Apache-2.0
// kgate-lab explain: what an algorithm promises, its variables, and its text with the paper's labels.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "lab/models/models.hpp"
#include "lab/models/promises.hpp"
#include "tools/kgate-lab/arguments.hpp"
#include "tools/kgate-lab/commands/commands.hpp"
#include "tools/kgate-lab/output/catalog_text.hpp"
#include "tools/kgate-lab/output/terminal.hpp"
#include "tools/kgate-lab/output/text.hpp"
#include "tools/kgate-lab/own_text/text_file.hpp"

namespace kgate::tool {

namespace {

constexpr std::size_t text_width = 79;
constexpr std::size_t label_width = 12;

/// The smallest interesting case the algorithm allows.
struct example {
  int N = 3;
  int k = 2;
};
example example_for(const catalog::row& row) {
  return {std::min(3, row.allowed.N_max), std::min(2, row.allowed.k_max)};
}

struct shown_variable {
  std::string name;
  std::string home;
  std::string initial;
};

std::vector<shown_variable> variables_of(const catalog::choice& algorithm, example at) {
  const auto model = lab::make_model(algorithm, at.N, at.k);
  std::vector<shown_variable> all;
  for (int v = 0; v < model->memory.size(); ++v) {
    const lab::shared_variable& one = model->memory.at(v);
    all.push_back({one.name, one.home == nobody ? "" : to_string(one.home), one.text(0)});
  }
  return all;
}

std::string field(std::string_view label, std::string_view text) {
  return fmt::format("{:<{}}{}\n", label, label_width, wrapped(text, label_width, text_width - label_width));
}

std::string promises_text(const catalog::choice& algorithm) {
  const catalog::promises promise = algorithm.promise();
  std::string text = fmt::format("{}", fmt::join(lab::promised_properties(promise), ", "));
  if (promise.overtakings_max >= 0)
    text += fmt::format(", overtaken at most {}",
                        count_text(static_cast<unsigned>(promise.overtakings_max), "time", "times"));
  if (promise.deadlock_free || promise.starvation_free)
    text += fmt::format("; progress with {}", lab::despite_text(promise.despite));
  return text;
}

std::string limits_text(const catalog::row& row) {
  if (row.allowed.k_max < row.allowed.N_max)
    return fmt::format("1 <= k <= {}, k <= N <= {}", row.allowed.k_max, row.allowed.N_max);
  return fmt::format("1 <= k <= N <= {}", row.allowed.N_max);
}

std::string human(const catalog::choice& algorithm) {
  const catalog::row& row = *algorithm.base;
  const std::string title = algorithm.with_names ? fmt::format("{}, with distinct names for those inside", row.title)
                                                 : std::string(row.title);
  std::string text = fmt::format("{}: {}\n\n", coloured(algorithm.id(), colour::bold), title);
  text += field("Source", lab::source_text(row));
  text += field("Promises", promises_text(algorithm));
  if (text_of(row).empty()) text += field("Primitives", catalog::to_string(algorithm.primitives()));
  text += field("Limits", limits_text(row));
  const char* label = "RMR";
  for (const catalog::rmr_bound& bound : row.bounds) {
    if (bound.formula.empty()) continue;
    std::string when;
    if (bound.when == catalog::bound_case::contention) when = " if at most c processes are outside their remainder";
    text +=
        field(label, fmt::format("{} on {}{}", bound_text(bound, algorithm.with_names), model_text(bound.model), when));
    label = "";
  }
  if (row.needs == catalog::registers::safe)
    text += field("Registers", "safe registers suffice: reads may overlap writes");
  if (!row.note.empty()) text += field("Note", row.note);

  const example at = example_for(row);
  text += fmt::format("\n{}\n", coloured(fmt::format("Variables, for N = {}, k = {}", at.N, at.k), colour::bold));
  table variables;
  variables.add({"NAME", "INITIALLY", "HOME"});
  for (const shown_variable& v : variables_of(algorithm, at)) variables.add({v.name, v.initial, v.home});
  text += variables.text("  ");

  for (const embedded_source& source : sources_of(algorithm))
    text += fmt::format("\n{}\n{}", coloured(shown_name(algorithm, source), colour::bold), source.text);

  if (references_of(algorithm).empty()) return text;
  text += fmt::format("\n{}\n", coloured("References", colour::bold));
  for (const std::string& reference : references_of(algorithm))
    text += fmt::format("  {}\n", wrapped(reference, 2, text_width - 2));
  return text;
}

nlohmann::json machine_form(const catalog::choice& algorithm) {
  nlohmann::json j = to_json(algorithm);
  const example at = example_for(*algorithm.base);
  auto& variables = j["variables"] = nlohmann::json::object();
  variables["N"] = at.N;
  variables["k"] = at.k;
  auto& list = variables["list"] = nlohmann::json::array();
  for (const shown_variable& v : variables_of(algorithm, at))
    list.push_back({{"name", v.name},
                    {"initial", v.initial},
                    {"home", v.home.empty() ? nlohmann::json() : nlohmann::json(v.home)}});
  j["sources"] = texts_json(algorithm);
  j["references"] = references_of(algorithm);
  return j;
}

/// The labelled statements only, function by function.
std::string pseudo_text(const catalog::choice& algorithm) {
  std::string text;
  for (const embedded_source& source : sources_of(algorithm)) {
    const auto statements = statements_of(source.text);
    if (statements.empty()) continue;
    std::size_t widest = 0;
    for (const labelled_statement& one : statements) widest = std::max(widest, one.label.size());
    text += fmt::format("{}{}\n", text.empty() ? "" : "\n", coloured(shown_name(algorithm, source), colour::bold));
    std::string function;
    for (const labelled_statement& one : statements) {
      if (one.function != function) text += fmt::format("{}\n", one.function);
      function = one.function;
      text += fmt::format("  {:>{}}: {:{}}{}\n", one.label, widest, "", 2 * one.depth, one.text);
    }
  }
  return text;
}

nlohmann::json pseudo_json(const catalog::choice& algorithm) {
  nlohmann::json j{{"id", algorithm.id()}, {"statements", nlohmann::json::array()}};
  for (const embedded_source& source : sources_of(algorithm))
    for (const labelled_statement& one : statements_of(source.text))
      j["statements"].push_back({{"file", shown_name(algorithm, source)},
                                 {"function", one.function},
                                 {"label", one.label},
                                 {"line", one.line},
                                 {"text", one.text}});
  return j;
}

}  // namespace

command add_explain(CLI::App& tool) {
  struct command_options {
    std::string algorithm;
    bool json = false, pseudo = false;
  };
  auto it = std::make_shared<command_options>();
  CLI::App* options = tool.add_subcommand("explain", "Show the promises, variables and text of an algorithm");
  options->add_option("ALGO", it->algorithm, "The algorithm's id, as 'list' shows it")->required();
  options->add_flag("--pseudo", it->pseudo, "The labelled statements only");
  options->add_flag("--json", it->json, "The same for programs");
  options->footer(
      "The text is the one that check explores and that the library runs; [\"3\"] is\n"
      "statement 3 of the paper.\n"
      "\n"
      "Examples:\n"
      "  kgate-lab explain am97-chain-cc\n"
      "  kgate-lab explain am97-chain-cc+names           # with figure 1 around it\n"
      "  kgate-lab explain am97-chain-cc --pseudo\n");
  return {options, [it] {
            const catalog::choice algorithm = parse_algorithm(it->algorithm);
            if (it->pseudo)
              print(it->json ? pseudo_json(algorithm).dump(2) + "\n" : pseudo_text(algorithm));
            else
              print(it->json ? machine_form(algorithm).dump(2) + "\n" : human(algorithm));
            return exit_code::holds;
          }};
}

}  // namespace kgate::tool
