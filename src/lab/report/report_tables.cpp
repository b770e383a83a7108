// SPDX-License-Identifier: Apache-2.0
// The sections of the report that are tables, and the plots of remote memory references.
#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "lab/report/page.hpp"
#include "lab/report/plot.hpp"
#include "lab/report/report_page.hpp"

namespace kgate::lab::report {

namespace {

using nlohmann::json;

std::string text(const json& j, const char* field) { return escaped(j.at(field).get<std::string>()); }

/// One verdict of an algorithm that was checked at (N,k): where it was decided if not there, and whether it is a
/// surprise.
std::string verdict_cell(const json& v, int N, int k) {
  const std::string is = v.at("verdict").get<std::string>();
  const bool surprises = is == "violated" && v.at("promised").get<bool>() && !v.at("kept_for_errors").get<bool>();
  std::string remark;
  if (v.at("N") != N || v.at("k") != k) remark = fmt::format(" at ({},{})", v.at("N").get<int>(), v.at("k").get<int>());
  if (is == "violated" && !surprises)
    remark += v.at("kept_for_errors").get<bool>() ? " (expected: the error it is kept for, docs/errata.md)"
                                                  : " (not promised)";
  if (is == "undecided" && v.contains("why")) remark += " (" + v.at("why").get<std::string>() + ")";
  return fmt::format("<span class=\"{}\">{}</span> {}{}", is == "violated" && !surprises ? "quiet" : is, is,
                     text(v, "name"), escaped(remark));
}

std::string worst_text(const json& m) {
  if (m.at("worst").is_string()) return "unbounded";
  return fmt::format("{}{}", m.at("exhaustive").get<bool>() ? "" : "&ge;", m.at("worst").get<long>());
}

std::string bound_text(const json& m) {
  return m.contains("bound") && m.at("bound").is_number() ? m.at("bound").dump() : "unbounded";
}

bool exceeded(const json& m) {
  return m.contains("bound") && m.at("bound").is_number() &&
         (m.at("worst").is_string() || m.at("worst").get<long>() > m.at("bound").get<long>());
}

std::string claim_rows(const json& claims) {
  std::string rows;
  for (const json& c : claims) {
    std::string cells;
    for (const json& m : c.at("measured"))
      cells += fmt::format("{}<span class=\"{}\">({},{}){} {}/{}</span>", cells.empty() ? "" : ", ",
                           exceeded(m) ? "violated" : "", m.at("N").get<int>(), m.at("k").get<int>(),
                           m.value("contention", 0) > 0 ? fmt::format(" c={}", m.at("contention").get<int>()) : "",
                           worst_text(m), bound_text(m));
    const std::string when = c.at("case").get<std::string>();
    rows +=
        fmt::format("<tr><th scope=\"row\">{}</th><td><code>{}</code></td><td>{}</td><td>{}{}</td><td>{}</td></tr>\n",
                    text(c, "source"), text(c, "algorithm"), text(c, "model"), text(c, "formula"),
                    when.empty() ? "" : escaped(", " + when), cells);
  }
  return rows;
}

/// Measured points and the theorem's curve in one colour for each algorithm.
plot rmr_plot(const json& series, int number) {
  const std::string against = series.at("against").get<std::string>(), model = series.at("model").get<std::string>();
  plot p{
      .id = fmt::format("rmr-{}", number),
      .title = fmt::format("{}: worst passage against {} ({})", model == "cc" ? "Cache-coherent" : "Distributed memory",
                           against == "contention" ? "contention c" : against, series.at("fixed").get<std::string>()),
      .says = "Points: the worst passage that schedules found. Dashed: the bound of the theorem.",
      .x = against == "contention" ? "processes outside their remainder, c" : against,
      .y = "remote references of a passage",
      .log_x = against != "contention",
      .log_y = false,
      .series = {}};
  std::map<std::string, std::pair<plot_series, plot_series>> by_algorithm;
  for (const json& m : series.at("points")) {
    auto& [worst, bound] = by_algorithm[m.at("algorithm").get<std::string>()];
    const double x = m.at("x").get<double>();
    worst.points.emplace_back(x, m.at("worst").get<double>());
    if (m.at("bound").is_number()) bound.points.emplace_back(x, m.at("bound").get<double>());
  }
  int colour = 0;
  for (auto& [algorithm, both] : by_algorithm) {
    auto& [worst, bound] = both;
    ++colour;
    worst.name = algorithm.starts_with("am97-") ? algorithm.substr(5) : algorithm;
    worst.drawn = plot_series::style::points;
    bound.name = worst.name + ", theorem";
    bound.drawn = plot_series::style::line;
    worst.colour = bound.colour = colour;
    p.series.push_back(std::move(worst));
    if (!bound.points.empty()) p.series.push_back(std::move(bound));
  }
  return p;
}

}  // namespace

std::string catalogue_section(const json& data) {
  std::string rows;
  for (const json& a : data.at("catalogue")) {
    std::string verdicts;
    const int N = a.at("N").get<int>(), k = a.at("k").get<int>(), passages = a.at("passages").get<int>();
    for (const json& v : a.at("verdicts")) verdicts += (verdicts.empty() ? "" : "<br>") + verdict_cell(v, N, k);
    rows += fmt::format(
        "<tr><th scope=\"row\"><code>{}</code></th><td>{}<br><span "
        "class=\"small\">{}</span></td><td>{}</td><td>({},{}){}</td>"
        "<td>{}</td><td class=\"number\">{}</td></tr>\n",
        text(a, "id"), text(a, "title"), text(a, "source") + (a.at("note") == "" ? "" : "<br>" + text(a, "note")),
        text(a, "promises"), N, k,
        passages == 0   ? ""
        : passages == 1 ? ", one passage each"
                        : fmt::format(", {} passages each", passages),
        verdicts, a.at("states").get<long>());
  }
  return "<section aria-labelledby=\"catalogue\"><h2 id=\"catalogue\">Catalogue: promises and verdicts</h2>\n"
         "<p>Each algorithm explored in every interleaving at a small size, with as many crashes as it promises to "
         "survive. What the "
         "time did not suffice for there is decided at a smaller size, which is named. Entries for study are "
         "algorithms as they were "
         "printed, kept for their errors: those must be violated. What is violated but not promised is what an "
         "algorithm does not "
         "claim.</p>\n"
         "<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
         "aria-label=\"Table\"><table><thead><tr><th>algorithm</th><th>what</th><th>promises</th><th>(N,k)</"
         "th><th>verdicts</th>"
         "<th>states</th></tr></thead><tbody>\n" +
         rows + "</tbody></table></div></section>\n";
}

std::string rmr_section(const json& data) {
  std::string html =
      "<section aria-labelledby=\"rmr\"><h2 id=\"rmr\">Remote memory references</h2>\n"
      "<p>The most remote references of one passage, beside what the theorems allow. The points of the plots were "
      "found by adversarial "
      "and random schedules: lower estimates, so a point may lie below its curve but never above.</p>\n";
  int number = 0;
  for (const json& series : data.at("rmr").at("series")) {
    const plot p = rmr_plot(series, ++number);
    html += fmt::format("<figure><figcaption>{}</figcaption>\n{}</figure>\n", escaped(p.title), draw(p));
  }
  std::string csv = "model,against,x,algorithm,worst,bound\n";
  for (const json& series : data.at("rmr").at("series"))
    for (const json& m : series.at("points"))
      csv += fmt::format("{},{},{},{},{},{}\n", series.at("model").get<std::string>(),
                         series.at("against").get<std::string>(), m.at("x").get<int>(),
                         m.at("algorithm").get<std::string>(), m.at("worst").get<long>(), bound_text(m));
  html += fmt::format("<p>{}</p>\n", download("rmr.csv", "text/csv", csv, "The points as CSV"));
  html +=
      "<h3>Every theorem and corollary of Anderson &amp; Moir</h3>\n<div class=\"scroll\" tabindex=\"0\" "
      "role=\"region\" aria-label=\"Table\"><table><caption>Measured/bound for each (N,k); "
      "over all schedules, or, after &ge;, the worst "
      "found</caption><thead><tr><th>claim</th><th>algorithm</th><th>memory</th>"
      "<th>bound</th><th>measured/bound</th></tr></thead><tbody>\n" +
      claim_rows(data.at("rmr").at("claims")) + "</tbody></table></div></section>\n";
  return html;
}

std::string space_section(const json& data) {
  std::string rows;
  for (const json& c : data.at("space")) {
    const auto bound = [&](const char* which) {
      if (!c.contains(which)) return std::string("&ndash;");
      return fmt::format("{} <span class=\"small\">{}</span>", c.at(which).at("value").get<double>(),
                         text(c.at(which), "formula"));
    };
    rows += fmt::format(
        "<tr><th scope=\"row\"><code>{}</code></th><td>{}</td><td>{}</td><td "
        "class=\"number\">{}{}</td><td>{}</td><td>{}</td></tr>\n",
        text(c, "algorithm"), c.at("N").get<int>(), c.at("k").get<int>(), c.at("exhaustive").get<bool>() ? "" : "&ge;",
        c.at("values").get<std::uint64_t>(), bound("upper"), bound("lower"));
  }
  return "<section aria-labelledby=\"space\"><h2 id=\"space\">Space</h2>\n<p>How many different contents the shared "
         "memory of the systems "
         "of Fischer, Lynch, Burns and Borodin takes, beside the bounds of their paper.</p>\n<div class=\"scroll\" "
         "tabindex=\"0\" role=\"region\" aria-label=\"Table\"><table><thead><tr>"
         "<th>system</th><th>N</th><th>k</th><th>values</th><th>upper bound</th><th>lower "
         "bound</th></tr></thead><tbody>\n" +
         rows + "</tbody></table></div></section>\n";
}

std::string bench_section(const json& data) {
  if (data.at("bench").is_null()) return "";
  const json& results = data.at("bench").at("results");
  const std::string reference = "std::counting_semaphore";
  std::set<std::string> peers;
  std::map<std::pair<std::string, std::string>, double> rate;  // (peer, cell)
  std::string head;
  for (const json& r : results) {
    head += fmt::format("<th>{}</th>", text(r, "cell"));
    for (const json& p : r.at("peers")) {
      peers.insert(p.at("peer").get<std::string>());
      rate[{p.at("peer").get<std::string>(), r.at("cell").get<std::string>()}] =
          p.at("median_ops_per_s").is_number() ? p.at("median_ops_per_s").get<double>() : 0;
    }
  }
  const bool ratios = peers.contains(reference);
  std::string rows;
  for (const std::string& peer : peers) {
    rows += fmt::format("<tr><th scope=\"row\">{}</th>", escaped(peer));
    for (const json& r : results) {
      const std::string cell = r.at("cell").get<std::string>();
      const auto found = rate.find({peer, cell});
      const double base = ratios ? rate[{reference, cell}] : 1;
      rows += found == rate.end() || found->second <= 0 || base <= 0
                  ? std::string("<td>&ndash;</td>")
                  : fmt::format("<td class=\"number\">{:.3g}</td>", found->second / base);
    }
    rows += "</tr>\n";
  }
  return fmt::format(
      "<section aria-labelledby=\"bench\"><h2 id=\"bench\">Semaphores</h2>\n<p>Operations a second of "
      "bench/semaphores, {}.</p>\n"
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
      "aria-label=\"Table\"><table><thead><tr><th>semaphore</th>{}</tr></thead><tbody>\n{}</tbody></table></div></"
      "section>\n",
      ratios ? "as ratios to std::counting_semaphore in the same run" : "medians", head, rows);
}

}  // namespace kgate::lab::report
