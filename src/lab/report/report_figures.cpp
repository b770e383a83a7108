// SPDX-License-Identifier: Apache-2.0
// Figures 10 and 11 in the report: what holds, the curves, the raw points.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "lab/report/page.hpp"
#include "lab/report/plot.hpp"
#include "lab/report/report_page.hpp"

namespace kgate::lab::report {

namespace {

using nlohmann::json;

struct run_name {
  const char* figure;
  const char* kind;
  const char* title;
};
constexpr run_name runs[] = {{"fig10", "native", "Figure 10 on this machine"},
                             {"fig10", "simulated", "Figure 10 on a simulated Sequent-like machine"},
                             {"fig11", "native", "Figure 11 on this machine"},
                             {"fig11", "simulated", "Figure 11 on a simulated BBN-like machine"}};

const json& run_of(const json& data, const run_name& r) { return data.at("figures").at(r.figure).at(r.kind); }

/// The sentence that says for one run which observations hold.
std::string summary(const json& data, const run_name& r) {
  std::map<std::string, std::string> by_answer;
  for (const json& o : run_of(data, r).at("observations")) {
    std::string& list = by_answer[o.at("holds").get<std::string>()];
    list += (list.empty() ? "" : "; ") + o.at("claim").get<std::string>();
  }
  std::string said = fmt::format("<strong>{}.</strong>", r.title);
  for (const auto& [answer, words] : {std::pair{"yes", "Holds"}, {"no", "Does not hold"}, {"unknown", "Not decided"}})
    if (!by_answer[answer].empty()) said += fmt::format(" {}: {}.", words, escaped(by_answer[answer]));
  return said;
}

std::string observation_table(const json& data) {
  std::string head, rows;
  for (const run_name& r : runs) head += fmt::format("<th>{}</th>", r.title);
  const json& first = run_of(data, runs[0]).at("observations");
  for (std::size_t i = 0; i < first.size(); ++i) {
    rows +=
        fmt::format("<tr><th scope=\"row\">{}<br><span class=\"small\">yes if {}</span></th>",
                    escaped(first[i].at("claim").get<std::string>()), escaped(first[i].at("rule").get<std::string>()));
    for (const run_name& r : runs) {
      const json& o = run_of(data, r).at("observations").at(i);
      const std::string answer = o.at("holds").get<std::string>();
      rows += fmt::format("<td><strong class=\"{}\">{}</strong><br><span class=\"small\">{}</span></td>",
                          answer == "yes"  ? "holds"
                          : answer == "no" ? "violated"
                                           : "undecided",
                          answer, escaped(o.at("evidence").get<std::string>()));
    }
    rows += "</tr>\n";
  }
  return fmt::format(
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Table\"><table "
      "class=\"observations\"><thead><tr><th>observation of the paper</th>{}</tr></thead><tbody>{}</tbody>"
      "</table></div>\n",
      head, rows);
}

std::vector<std::pair<double, double>> medians(const json& curve) {
  std::map<int, std::vector<double>> by_count;
  for (const json& p : curve.at("points"))
    if (p.at("done").get<long>() > 0)
      by_count[p.at("processes").get<int>()].push_back(p.at("total_seconds").get<double>());
  std::vector<std::pair<double, double>> points;
  for (auto& [P, seconds] : by_count) {
    std::sort(seconds.begin(), seconds.end());
    const std::size_t half = seconds.size() / 2;
    points.emplace_back(P, seconds.size() % 2 == 1 ? seconds[half] : (seconds[half - 1] + seconds[half]) / 2);
  }
  return points;
}

std::string csv_of(const json& run) {
  std::string csv = "places,curve,processes,operations,done,seconds,total_seconds\n";
  for (const json* queue : {&run, &run.at("large_queue")})
    for (const json& c : queue->at("curves"))
      for (const json& p : c.at("points"))
        csv += fmt::format("{},{},{},{},{},{},{}\n", queue->at("places").get<int>(), c.at("id").get<std::string>(),
                           p.at("processes").get<int>(), p.at("operations").get<long>(), p.at("done").get<long>(),
                           p.at("seconds").get<double>(), p.at("total_seconds").get<double>());
  return csv;
}

/// Rows are curves, columns process counts.
std::string points_table(const json& curves, const std::string& title) {
  std::map<int, int> column;
  for (const json& c : curves)
    for (const json& p : c.at("points")) column[p.at("processes").get<int>()] = 0;
  std::string head, rows;
  for (const auto& [P, unused] : column) head += fmt::format("<th scope=\"col\">P = {}</th>", P);
  for (const json& c : curves) {
    rows += fmt::format("<tr><th scope=\"row\">{}</th>", escaped(c.at("name").get<std::string>()));
    const auto points = medians(c);
    for (const auto& [P, unused] : column) {
      const auto found = std::find_if(points.begin(), points.end(), [P = P](const auto& p) { return p.first == P; });
      rows +=
          found == points.end() ? "<td>&ndash;</td>" : fmt::format("<td class=\"number\">{:.3g}</td>", found->second);
    }
    rows += "</tr>\n";
  }
  return fmt::format(
      "<details><summary>{}</summary><div class=\"scroll\" tabindex=\"0\" role=\"region\" "
      "aria-label=\"Table\"><table><caption>Seconds for all operations</caption><thead><tr><th "
      "scope=\"col\">curve</th>{}</tr></thead><tbody>{}</tbody></table></div></details>\n",
      title, head, rows);
}

std::string curves(const json& data, const run_name& r) {
  const json& run = run_of(data, r);
  plot p{.id = fmt::format("{}-{}", r.figure, r.kind),
         .title = r.title,
         .says = "Total time against the number of processes; the medians are in the table below.",
         .x = fmt::format("processes on {} processors", run.at("processors").get<int>()),
         .y = "seconds for all operations",
         .log_x = false,
         .log_y = true,
         .series = {}};
  for (const json& c : run.at("curves")) p.series.push_back({c.at("name").get<std::string>(), medians(c)});
  return fmt::format(
      "<figure><figcaption>{}</figcaption>\n{}<p>{}</p>\n{}</figure>\n", escaped(p.title), draw(p),
      download(fmt::format("{}-{}.csv", r.figure, r.kind), "text/csv", csv_of(run), "All raw points as CSV"),
      points_table(run.at("curves"), "The medians as a table") +
          points_table(run.at("large_queue").at("curves"),
                       fmt::format("What copying costs: the same with a queue of {} places instead of {}",
                                   run.at("large_queue").at("places").get<int>(), run.at("places").get<int>())));
}

std::string costs_table(const json& data) {
  const json &cc = data.at("figures").at("fig10").at("simulated"),
             &dsm = data.at("figures").at("fig11").at("simulated");
  std::string rows;
  for (const auto& [name, value] : cc.at("machine").items()) {
    const auto shown = [](const json& v) { return escaped(v.is_string() ? v.get<std::string>() : v.dump()); };
    rows += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td></tr>\n", escaped(name), shown(value),
                        shown(dsm.at("machine").at(name)));
  }
  return "<details><summary>What things cost on the simulated machines</summary><table><thead><tr><th></th><th>figure "
         "10</th>"
         "<th>figure 11</th></tr></thead><tbody>" +
         rows + "</tbody></table></details>\n";
}

/// What a curve of the last experiment is called.
std::string scale_name(const std::string& id) {
  if (id == "mcs") return "MCS lock";
  if (id == "herlihy") return "Herlihy, N = all";
  const std::string k = id.substr(id.find('-') + 1);
  return id.starts_with("tree-") ? "k = " + k + ", tree" : "k = " + k + ", nested";
}

std::string scale(const json& data) {
  std::string html;
  std::string csv = "figure,curve,processors,processes,microseconds,remote\n";
  for (const char* figure : {"fig10", "fig11"})
    for (const auto& [field, label] :
         {std::pair{"microseconds", "microseconds an operation"}, {"remote", "remote references an operation"}}) {
      std::map<std::string, plot_series> by_curve;
      for (const json& p : data.at("scale").at(figure)) {
        plot_series& s = by_curve[p.at("id").get<std::string>()];
        s.name = scale_name(p.at("id").get<std::string>());
        s.points.emplace_back(p.at("processors").get<double>(), p.at(field).get<double>());
        if (std::string(field) == "remote")
          csv += fmt::format("{},{},{},{},{},{}\n", figure, p.at("id").get<std::string>(),
                             p.at("processors").get<int>(), p.at("processes").get<int>(),
                             p.at("microseconds").get<double>(), p.at("remote").get<double>());
      }
      plot p{.id = fmt::format("scale-{}-{}", figure, field),
             .title = fmt::format("{}, simulated: {} on more processors",
                                  std::string(figure) == "fig10" ? "Figure 10" : "Figure 11", label),
             .says = "Two processes on each processor, four operations of each process.",
             .x = "processors",
             .y = label,
             .log_x = true,
             .log_y = true,
             .series = {}};
      for (auto& [name, s] : by_curve) p.series.push_back(std::move(s));
      html += fmt::format("<figure><figcaption>{}</figcaption>\n{}</figure>\n", escaped(p.title), draw(p));
    }
  return "<h3>Beyond the paper: how the cost grows with the machine</h3>\n<p>Two processes on each of up to thousands "
         "of simulated "
         "processors, four operations each; caches without a common bus, or a memory with each processor. All come at "
         "once, so nested fast "
         "paths pay for the contention; one fast path in front of a tree pays for its logarithm. Herlihy's object is "
         "made for all "
         "processes, and left out where its blocks would take too long. <code>kgate-lab experiment fig10 --simulated "
         "--scale</code> "
         "goes to 4096 processors.</p>\n" +
         html + fmt::format("<p>{}</p>\n", download("scale.csv", "text/csv", csv, "These points as CSV"));
}

}  // namespace

std::string figures_section(const json& data) {
  std::string html =
      "<section aria-labelledby=\"observations\"><h2 id=\"observations\">Figures 10 and 11 of Anderson &amp; Moir: "
      "what holds</h2>\n"
      "<p>A fixed number of priority-queue operations is divided among P processes that share fewer processors. The "
      "paper makes seven "
      "observations; each is decided here by the points below and the rule beside it.</p>\n";
  for (const run_name& r : runs) html += "<p>" + summary(data, r) + "</p>\n";
  html += observation_table(data) +
          "</section>\n<section aria-labelledby=\"figures\"><h2 id=\"figures\">Figures 10 and 11: the curves</h2>\n";
  html += fmt::format("<p>{}</p>\n", escaped(data.at("figures").at("conditions").get<std::string>()));
  for (const run_name& r : runs) html += curves(data, r);
  html += costs_table(data) + scale(data) + "</section>\n";
  return html;
}

}  // namespace kgate::lab::report
