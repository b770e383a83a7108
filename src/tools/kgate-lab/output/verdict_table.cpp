// SPDX-License-Identifier: Apache-2.0
#include "tools/kgate-lab/output/verdict_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "lab/experiments/this_machine.hpp"
#include "tools/kgate-lab/output/provenance.hpp"
#include "tools/kgate-lab/output/text.hpp"

namespace kgate::tool {

namespace {

using cells = std::vector<std::string>;

/// A column that only tables have in which one row needs it.
struct column {
  const char* head;
  std::string (*of)(const lab::check_request& r);  ///< empty: as it is if nothing is said
};

constexpr column extra_columns[] = {
    {"contention", [](const lab::check_request& r) { return r.contention > 0 ? std::to_string(r.contention) : ""; }},
    {"memory", [](const lab::check_request& r) { return std::string(r.of.safe_registers ? "safe" : ""); }},
    {"forall", [](const lab::check_request& r) { return std::string(r.of.any_order ? "any" : ""); }},
    {"symmetry", [](const lab::check_request& r) { return std::string(r.symmetry ? "yes" : ""); }},
    {"mutations",
     [](const lab::check_request& r) {
       std::vector<std::string> all;
       for (const lab::mutation& m : r.of.wrong) all.push_back(m.text());
       return fmt::format("{}", fmt::join(all, " "));
     }},
};

std::vector<cells> rows_of(const std::vector<lab::check_result>& results, table_format format) {
  cells head{"algorithm", "N", "k", "passages", "crashes", "states", "transitions"};
  std::vector<column> extra;
  for (const column& one : extra_columns)
    if (std::any_of(results.begin(), results.end(),
                    [&](const lab::check_result& r) { return !one.of(r.request).empty(); })) {
      extra.push_back(one);
      head.emplace_back(one.head);
    }
  const std::size_t fixed = head.size();
  for (const lab::check_result& r : results)
    for (const lab::property_result& one : r.properties)
      if (std::find(head.begin() + static_cast<std::ptrdiff_t>(fixed), head.end(), one.name) == head.end())
        head.push_back(one.name);
  std::vector<cells> all{head};
  for (const lab::check_result& r : results) {
    cells row{r.request.of.algorithm,
              std::to_string(r.request.of.N),
              std::to_string(r.request.of.k),
              r.request.of.passages == 0 ? "unlimited" : std::to_string(r.request.of.passages),
              std::to_string(r.request.crashes),
              fmt::format("{}{}", r.complete ? "" : ">=", r.states),
              fmt::format("{}{}", r.complete ? "" : ">=", r.transitions)};
    for (const column& one : extra) {
      const std::string said = one.of(r.request);
      row.push_back(said.empty() && format != table_format::csv ? "-" : said);
    }
    row.resize(head.size());
    for (const lab::property_result& one : r.properties)
      row[static_cast<std::size_t>(std::find(head.begin(), head.end(), one.name) - head.begin())] =
          format == table_format::csv ? std::string(lab::verdict_id(one)) : verdict_words(one);
    all.push_back(std::move(row));
  }
  return all;
}

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string inside = text;
  for (std::size_t at = 0; (at = inside.find('"', at)) != std::string::npos; at += 2) inside.insert(at, 1, '"');
  return '"' + inside + '"';
}

std::string latex_cell(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '<' || c == '>')
      out += fmt::format("\\ensuremath{{{}}}", c);
    else if (c == '\\' || c == '^' || c == '~')
      out += fmt::format("\\char`\\{}", c);
    else
      out += (std::string_view("&%$#_{}").find(c) != std::string_view::npos ? "\\" : "") + std::string(1, c);
  }
  return out;
}

/// What a row of a CSV file needs to be understood apart from the rest.
void add_provenance(std::vector<cells>& rows, const std::vector<lab::check_result>& results, std::uint64_t seed) {
  const auto append = [](cells& row, std::initializer_list<std::string> more) {
    row.insert(row.end(), more.begin(), more.end());
  };
  append(rows[0], {"seed", "threads", "memory_max", "time_max", "version", "commit", "machine"});
  const nlohmann::json machine = lab::this_machine();
  for (std::size_t i = 0; i < results.size(); ++i) {
    const lab::run_limits& limits = results[i].request.limits;
    append(rows[i + 1],
           {std::to_string(seed), std::to_string(limits.threads), std::to_string(limits.memory_max),
            limits.seconds_max > 0 ? fmt::format("{}", limits.seconds_max) : "unlimited", KGATE_VERSION, commit_text(),
            fmt::format("{}; {}; {}", machine["processor"].get<std::string>(), machine["kernel"].get<std::string>(),
                        machine["compiler"].get<std::string>())});
  }
}

template <class Cell>
std::string joined(const cells& row, const char* between, Cell&& cell) {
  cells made;
  for (const std::string& one : row) made.push_back(cell(one));
  return fmt::format("{}", fmt::join(made, between));
}

}  // namespace

std::string verdict_words(const lab::property_result& r) {
  if (!r.within_limits()) return lab::to_string(r.is);
  std::string text = "holds";
  if (r.within_passages > 0)
    text += fmt::format(" within {}", count_text(static_cast<unsigned>(r.within_passages), "passage", "passages"));
  if (r.within_contention > 0)
    text += fmt::format(" with at most {} outside the remainder",
                        count_text(static_cast<unsigned>(r.within_contention), "process", "processes"));
  return text;
}

std::string verdict_table(const std::vector<lab::check_result>& results, table_format format, std::uint64_t seed) {
  std::vector<cells> rows = rows_of(results, format);
  const std::string by = fmt::format("by {}\n", provenance_text(results.at(0).request.limits, seed));
  std::string text;
  switch (format) {
    case table_format::text: {
      table aligned;
      for (const cells& row : rows) aligned.add(row);
      return aligned.text("") + by;
    }
    case table_format::csv:
      add_provenance(rows, results, seed);
      for (const cells& row : rows) text += joined(row, ",", csv_cell) + "\n";
      return text;
    case table_format::latex:
      text = fmt::format("\\begin{{tabular}}{{lrrrrrr{}}}\n\\hline\n", std::string(rows[0].size() - 7, 'l'));
      for (const cells& row : rows)
        text += joined(row, " & ", latex_cell) + " \\\\\n" + (&row == rows.data() ? "\\hline\n" : "");
      return text + "\\hline\n\\end{tabular}\n% " + by;
  }
  return text;
}

}  // namespace kgate::tool
