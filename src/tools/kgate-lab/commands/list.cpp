// SPDX-License-Identifier: Apache-2.0
// kgate-lab list: the catalogue.
#include <fmt/format.h>
#include <unistd.h>

#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "lab/models/models.hpp"
#include "lab/models/promises.hpp"
#include "tools/kgate-lab/commands/commands.hpp"
#include "tools/kgate-lab/output/catalog_text.hpp"
#include "tools/kgate-lab/output/terminal.hpp"
#include "tools/kgate-lab/output/text.hpp"

namespace kgate::tool {

namespace {

constexpr std::size_t title_min = 24;  ///< a title shorter than this is not worth showing

/// One letter per promise; the legend below the table explains them.
std::string letters(const catalog::promises& promise) {
  std::string text;
  const auto add = [&](bool promised, char letter) { text += promised ? letter : '-'; };
  add(promise.k_exclusion, 'X');
  add(promise.deadlock_free, 'D');
  add(promise.starvation_free, 'S');
  add(promise.bounded_exit, 'B');
  add(promise.k_fcfs, 'F');
  add(promise.fife, 'E');
  add(promise.l_queuelike, 'Q');
  return text + (promise.despite == catalog::crashes::none  ? " 0"
                 : promise.despite == catalog::crashes::any ? " any"
                                                            : " k-1");
}

std::string short_primitives(catalog::primitive set) {
  std::string text;
  const auto add = [&](catalog::primitive one, char word) {
    if ((set & one) != 0) text += word;
  };
  add(catalog::fetch_and_add, 'F');
  add(catalog::test_and_set, 'T');
  add(catalog::compare_and_swap, 'C');
  add(catalog::exchange, 'S');
  add(catalog::read_modify_write, 'M');
  return text.empty() ? "rw" : text;
}

std::string limits_text(const catalog::row& row) {
  if (row.allowed.k_max == 1) return "k=1";
  return row.allowed.N_max == processes_max ? "" : fmt::format("{}", row.allowed.N_max);
}

/// The bounds worth a line: all that are finite, or one word if none is.
std::vector<std::string> bounds_of(const catalog::row& row) {
  std::vector<std::string> lines;
  bool claims = false;
  for (const catalog::rmr_bound& bound : row.bounds) {
    if (bound.formula.empty()) continue;
    claims = true;
    if (!is_unbounded(bound)) lines.push_back(fmt::format("{} {}", model_text(bound.model), bound_text(bound, false)));
  }
  if (lines.empty()) lines.emplace_back(claims ? "unbounded" : "");
  return lines;
}

constexpr std::string_view legend = R"(
PROMISES  X k-exclusion, D deadlock-free, S starvation-free, B bounded exit,
          F k-FCFS, E first in first enabled, Q l-queuelike; then the crashes
          that progress survives
USES      besides reads and writes: F fetch-and-add, T test-and-set,
          C compare-and-swap, S swap, M any read-modify-write; rw nothing
N<=       the largest N; none shown: 65535
RMR       remote memory references of a passage; none shown for a model:
          unbounded or not claimed
ID+names  distinct names 0..k-1 for those inside, over any of them
)";

/// A block per paper. Titles are shown only where there is room for them.
std::string human(std::size_t width) {
  constexpr std::size_t title_column = 5;
  table all(width < 100 ? 1 : 2);
  std::vector<std::string_view> papers{""};  ///< of each line; empty where it is that of the line before
  all.add({"ID", "PROMISES", "USES", "N<=", "RMR", "WHAT"});
  std::string_view paper;
  for (const catalog::row* row : lab::algorithm_rows()) {
    const auto bounds = bounds_of(*row);
    papers.push_back(row->paper == paper ? "" : row->paper);
    paper = row->paper;
    all.add({std::string(row->id), letters(row->promise), short_primitives(row->primitives), limits_text(*row),
             bounds[0], fmt::format("{} ({})", row->title, lab::figure_text(*row))});
    for (std::size_t i = 1; i < bounds.size(); ++i) {
      papers.emplace_back("");
      all.add({"", "", "", "", bounds[i]});
    }
  }
  const std::size_t without_title = all.width(0, title_column - 1);
  const std::size_t cut = width >= without_title + title_min ? width : without_title;
  const auto lines = all.lines();
  std::string text;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!papers[i].empty()) text += fmt::format("\n{}\n", coloured(papers[i], colour::bold));
    std::string shown = lines[i].substr(0, cut);
    shown.erase(shown.find_last_not_of(' ') + 1);
    text += shown + "\n";
  }
  return text + std::string(legend);
}

exit_code run(bool json) {
  if (json) {
    nlohmann::json all = nlohmann::json::array();
    for (const catalog::row* row : lab::algorithm_rows()) all.push_back(to_json(catalog::choice{row, false}));
    print(all.dump(2) + "\n");
  } else {
    print(human(terminal_width(STDOUT_FILENO).value_or(std::numeric_limits<std::size_t>::max())));
  }
  return exit_code::holds;
}

}  // namespace

command add_list(CLI::App& tool) {
  auto json = std::make_shared<bool>(false);
  CLI::App* options = tool.add_subcommand("list", "Show the catalogue of algorithms");
  options->add_flag("--json", *json, "Every field, for programs");
  options->footer(
      "Examples:\n"
      "  kgate-lab list                                  # a table\n"
      "  kgate-lab list --json | jq -r '.[].id'          # the ids\n");
  return {options, [json] { return run(*json); }};
}

}  // namespace kgate::tool
