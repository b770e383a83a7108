// SPDX-License-Identifier: Apache-2.0
#include "lab/report/report_plots.hpp"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

namespace kgate::lab::report {

namespace {

using nlohmann::json;

/// Figure 10 or 11 on one machine.
plot run_plot(const json& data, const std::string& figure, const std::string& kind) {
  const json& run = data.at("figures").at(figure).at(kind);
  plot p{.id = figure + "-" + kind,
         .title = run.at("title").get<std::string>(),
         .says = "Total time against the number of processes; the medians are in the table below.",
         .x = fmt::format("processes on {} processors", run.at("processors").get<int>()),
         .y = "seconds for all operations",
         .log_x = false,
         .log_y = true,
         .series = {}};
  for (const json& c : run.at("curves")) {
    plot_series& s = p.series.emplace_back();
    s.name = c.at("name").get<std::string>();
    for (const json& m : c.at("medians"))
      s.points.emplace_back(m.at("processes").get<double>(), m.at("seconds").get<double>());
  }
  return p;
}

/// What a curve of the experiment with more processors is called.
std::string scale_name(const std::string& id) {
  if (id == "mcs") return "MCS lock";
  if (id == "herlihy") return "Herlihy, N = all";
  const std::string k = id.substr(id.find('-') + 1);
  return id.starts_with("tree-") ? "k = " + k + ", tree" : "k = " + k + ", nested";
}

plot scale_plot(const json& data, const std::string& figure, const std::string& field, const std::string& label) {
  plot p{.id = fmt::format("scale-{}-{}", figure, field),
         .title =
             fmt::format("{}, simulated: {} on more processors", figure == "fig10" ? "Figure 10" : "Figure 11", label),
         .says = "Two processes on each processor, four operations of each process.",
         .x = "processors",
         .y = label,
         .log_x = true,
         .log_y = true,
         .series = {}};
  std::map<std::string, plot_series> by_curve;
  for (const json& point : data.at("scale").at(figure)) {
    const std::string id = point.at("id").get<std::string>();
    plot_series& s = by_curve[id];
    s.name = scale_name(id);
    s.points.emplace_back(point.at("processors").get<double>(), point.at(field).get<double>());
  }
  for (auto& [id, s] : by_curve) p.series.push_back(std::move(s));
  return p;
}

/// Measured points and the theorem's curve in one colour for each algorithm.
plot rmr_plot(const json& series, std::size_t number) {
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

std::vector<plot> report_plots(const json& data) {
  std::vector<plot> all;
  for (const char* figure : {"fig10", "fig11"}) {
    for (const char* kind : {"native", "simulated"}) all.push_back(run_plot(data, figure, kind));
    all.push_back(scale_plot(data, figure, "microseconds", "microseconds an operation"));
    all.push_back(scale_plot(data, figure, "remote", "remote references an operation"));
  }
  const json& series = data.at("rmr").at("series");
  for (std::size_t i = 0; i < series.size(); ++i) all.push_back(rmr_plot(series[i], i + 1));
  return all;
}

}  // namespace kgate::lab::report
