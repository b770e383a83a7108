// SPDX-License-Identifier: Apache-2.0
#include "tools/kgate-lab/output/catalog_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <regex>

#include "tools/kgate-lab/own_text/text_file.hpp"

namespace kgate::tool {

namespace {

constexpr std::string_view names_header = "am97_names.hpp";

struct citation {
  std::string_view paper;  ///< as the catalogue names it
  std::string_view full;
};

/// Where names come from.
constexpr std::string_view names_paper = "Anderson & Moir 1997";

constexpr citation citations[] = {
    {names_paper,
     "James H. Anderson and Mark Moir. Using local-spin k-exclusion algorithms to improve wait-free object "
     "implementations. Distributed Computing 11(1):1-20, 1997."},
    {"Danek 2010",
     "Robert Danek. The k-bakery: local-spin k-exclusion using non-atomic reads and writes. Proceedings of the 29th "
     "ACM "
     "Symposium on Principles of Distributed Computing (PODC), 2010."},
    {"Choi 2011",
     "Jonathan H. Choi. A solution to k-exclusion with O(log k) RMR complexity. Dartmouth Computer Science Technical "
     "Report TR2011-682, 2011."},
    {"Afek, Dolev, Gafni, Merritt & Shavit 1994",
     "Yehuda Afek, Danny Dolev, Eli Gafni, Michael Merritt and Nir Shavit. A bounded first-in, first-enabled solution "
     "to "
     "the l-exclusion problem. ACM Transactions on Programming Languages and Systems 16(3):939-953, 1994."},
    {"Fischer, Lynch, Burns & Borodin 1979",
     "Michael J. Fischer, Nancy A. Lynch, James E. Burns and Allan Borodin. Resource allocation with immunity to "
     "limited "
     "process failure. Proceedings of the 20th IEEE Symposium on Foundations of Computer Science (FOCS), pages "
     "234-254, "
     "1979."},
    {"Gottlieb, Lubachevsky & Rudolph 1983",
     "Allan Gottlieb, Boris D. Lubachevsky and Larry Rudolph. Basic techniques for the efficient coordination of very "
     "large numbers of cooperating sequential processors. ACM Transactions on Programming Languages and Systems "
     "5(2):164-189, 1983."},
    {"Peterson 1981",
     "Gary L. Peterson. Myths about the mutual exclusion problem. Information Processing Letters 12(3):115-116, 1981."},
    {"Mellor-Crummey & Scott 1991",
     "John M. Mellor-Crummey and Michael L. Scott. Algorithms for scalable synchronization on shared-memory "
     "multiprocessors. ACM Transactions on Computer Systems 9(1):21-65, 1991."},
    {"Dijkstra 1968",
     "Edsger W. Dijkstra. Cooperating sequential processes. In F. Genuys, editor, Programming Languages, pages 43-112. "
     "Academic Press, 1968."},
    {"Lamport 1974",
     "Leslie Lamport. A new solution of Dijkstra's concurrent programming problem. Communications of the ACM "
     "17(8):453-455, 1974."},
    {"Burns & Lynch 1993",
     "James E. Burns and Nancy A. Lynch. Bounds on shared memory for mutual exclusion. Information and Computation "
     "107(2):171-184, 1993."},
    {"Craig 1993",
     "Travis S. Craig. Building FIFO and priority-queuing spin locks from atomic swap. University of Washington, "
     "Technical Report 93-02-02, 1993."},
    {"Magnusson, Landin & Hagersten 1994",
     "Peter S. Magnusson, Anders Landin and Erik Hagersten. Queue locks on cache coherent multiprocessors. Proceedings "
     "of the 8th International Parallel Processing Symposium (IPPS), pages 165-171, 1994."},
    {"this project", "docs/semaphore.md, and the text itself."},
};

std::string_view when_text(catalog::bound_case when) {
  switch (when) {
    case catalog::bound_case::always:
      return "always";
    case catalog::bound_case::alone:
      return "alone";
    case catalog::bound_case::contention:
      return "contention";
  }
  return "?";
}

std::string_view names_cost(catalog::bound_case when) {
  switch (when) {
    case catalog::bound_case::always:
      return " + k+1";
    case catalog::bound_case::alone:
      return " + 2";
    case catalog::bound_case::contention:
      return " + c+1";
  }
  return "";
}

std::string with_names_cost(const catalog::rmr_bound& bound, bool with_names) {
  std::string formula(bound.formula);
  if (with_names && bound.at != nullptr && !is_unbounded(bound)) formula += names_cost(bound.when);
  return formula;
}

nlohmann::json promises_json(const catalog::promises& promise) {
  nlohmann::json j;
  const auto promised = lab::promised_properties(promise);
  for (const char* name : {"k-exclusion", "deadlock-free", "starvation-free", "bounded-exit", "distinct-names",
                           "k-fcfs", "fife", "l-queuelike", "bounded-waiting"})
    j[name] = std::find(promised.begin(), promised.end(), name) != promised.end();
  j["overtakings_max"] = promise.overtakings_max < 0 ? nlohmann::json() : nlohmann::json(promise.overtakings_max);
  j["crashes"] = promise.despite == catalog::crashes::none  ? "0"
                 : promise.despite == catalog::crashes::any ? "any"
                                                            : "k-1";
  return j;
}

}  // namespace

std::string_view model_text(catalog::rmr_model model) { return model == catalog::rmr_model::cc ? "CC" : "DSM"; }

bool is_unbounded(const catalog::rmr_bound& bound) {
  return bound.at != nullptr && bound.at(2, 1, 1) == catalog::unbounded;
}

std::string bound_text(const catalog::rmr_bound& bound, bool with_names) {
  const std::string formula = with_names_cost(bound, with_names);
  return bound.when == catalog::bound_case::alone ? formula + " alone" : formula;
}

nlohmann::json to_json(const catalog::choice& algorithm) {
  const catalog::row& row = *algorithm.base;
  nlohmann::json j{{"id", algorithm.id()},
                   {"title", row.title},
                   {"paper", row.paper},
                   {"figure", row.figure},
                   {"theorem", row.theorem},
                   {"limits", {{"N_max", row.allowed.N_max}, {"k_max", row.allowed.k_max}}},
                   {"promises", promises_json(algorithm.promise())},
                   {"symmetric", row.symmetric == catalog::symmetry::full},
                   {"bounded_variables", row.bounded_variables},
                   {"native", row.native},
                   {"registers", row.needs == catalog::registers::safe ? "safe" : "atomic"},
                   {"note", row.note}};
  auto& primitives = j["primitives"];
  if (text_of(row).empty()) primitives = nlohmann::json::array();  // of a text in a file they are not known
  for (const auto one : {catalog::fetch_and_add, catalog::test_and_set, catalog::compare_and_swap, catalog::exchange,
                         catalog::read_modify_write})
    if (text_of(row).empty() && (algorithm.primitives() & one) != 0) primitives.push_back(catalog::to_string(one));
  auto& headers = j["headers"] = nlohmann::json::array();
  for (const embedded_source& source : sources_of(algorithm)) headers.push_back(source.name);
  auto& bounds = j["rmr"] = nlohmann::json::array();
  for (const catalog::rmr_bound& bound : row.bounds)
    if (!bound.formula.empty())
      bounds.push_back({{"model", bound.model == catalog::rmr_model::cc ? "cc" : "dsm"},
                        {"when", when_text(bound.when)},
                        {"formula", with_names_cost(bound, algorithm.with_names)},
                        {"exact", bound.at != nullptr}});
  return j;
}

std::vector<embedded_source> sources_of(const catalog::choice& algorithm) {
  if (const std::string_view own = text_of(*algorithm.base); !own.empty()) return {{algorithm.base->paper, own}};
  std::vector<std::string_view> names;
  if (algorithm.with_names) names.push_back(names_header);
  for (const std::string_view name : algorithm.base->headers)
    if (!name.empty()) names.push_back(name);
  std::vector<embedded_source> found;
  for (const std::string_view name : names)
    for (const embedded_source& one : embedded_sources())
      if (one.name == name) found.push_back(one);
  return found;
}

std::vector<std::pair<std::string, int>> labels_of(std::string_view text) {
  static const std::regex label(R"re(\w\["([^"]+)"\])re");
  std::vector<std::pair<std::string, int>> labels;
  int number = 0;
  for (std::size_t at = 0; at < text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string line(text.substr(at, end - at));
    for (std::sregex_iterator it(line.begin(), line.end(), label), last; it != last; ++it)
      labels.emplace_back((*it)[1], number + 1);
    at = end + 1;
  }
  return labels;
}

namespace {

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

bool open_parenthesis(std::string_view text) {
  return std::count(text.begin(), text.end(), '(') > std::count(text.begin(), text.end(), ')');
}

/// The statement that begins in this line, on one line, without label, comment and brace.
std::string whole_statement(const std::vector<std::string>& lines, std::size_t at) {
  std::string text;
  do {
    std::string line = lines[at];
    if (const std::size_t comment = line.find("//"); comment != std::string::npos) line.resize(comment);
    const std::size_t from = line.find_first_not_of(' ');
    if (from != std::string::npos) text += (text.empty() ? "" : " ") + line.substr(from);
  } while (open_parenthesis(text) && ++at < lines.size());
  static const std::regex label(R"re(\w+\["[^"]+"\](, )?)re");
  text = std::regex_replace(text, label, "");
  text.erase(text.find_last_not_of(" {;") + 1);
  return text;
}

}  // namespace

std::vector<labelled_statement> statements_of(std::string_view text) {
  static const std::regex function(R"re(^  (?:static |inline )*[\w:<>&* ]+ (\w+)\(.*)re");
  const std::vector<std::string> lines = lines_of(text);
  std::vector<labelled_statement> all;
  std::string inside;
  std::size_t at = 0;
  const auto labels = labels_of(text);
  for (const auto& [label, line] : labels) {
    for (std::smatch found; at < static_cast<std::size_t>(line); ++at)
      if (std::regex_match(lines[at], found, function)) inside = found[1];
    const auto index = static_cast<std::size_t>(line) - 1;
    const std::size_t indent = lines[index].find_first_not_of(' ');
    all.push_back({inside, label, line, indent < 4 ? 0 : indent / 2 - 2, whole_statement(lines, index)});
  }
  return all;
}

std::string shown_name(const catalog::choice& algorithm, const embedded_source& source) {
  return text_of(*algorithm.base).empty() ? fmt::format("kgate/algorithms/{}", source.name) : std::string(source.name);
}

nlohmann::json texts_json(const catalog::choice& algorithm) {
  auto texts = nlohmann::json::array();
  for (const embedded_source& source : sources_of(algorithm)) {
    auto labels = nlohmann::json::array();
    for (const auto& [label, line] : labels_of(source.text)) labels.push_back({{"label", label}, {"line", line}});
    texts.push_back({{"file", shown_name(algorithm, source)}, {"text", source.text}, {"labels", labels}});
  }
  return texts;
}

std::vector<std::string> references_of(const catalog::choice& algorithm) {
  std::vector<std::string> all;
  for (const citation& one : citations) {
    const bool base = one.paper == algorithm.base->paper;
    const bool names = algorithm.with_names && one.paper == names_paper;
    // Baselines are known from the table that compares them.
    const bool quoted = algorithm.base->figure.find(one.paper) != std::string_view::npos;
    if (base || names || quoted) all.emplace_back(one.full);
  }
  return all;
}

}  // namespace kgate::tool
