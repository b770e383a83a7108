// SPDX-License-Identifier: Apache-2.0
#include "tools/kgate/history_report.hpp"

#include <cstdio>
#include <utility>

#include "tools/kgate/json.hpp"

namespace kgate::tool {

namespace {

/// "850us", "12ms", "3.4s", "5m10s"
std::string short_time(double seconds) {
  char text[32];
  if (seconds < 1e-3)
    std::snprintf(text, sizeof text, "%.0fus", seconds * 1e6);
  else if (seconds < 1)
    std::snprintf(text, sizeof text, "%.3gms", seconds * 1e3);
  else if (seconds < 60)
    std::snprintf(text, sizeof text, "%.3gs", seconds);
  else
    return span_text(seconds);
  return text;
}

double mean_of(const duration_record& times) {
  const std::uint64_t n = times.count();
  return n == 0 ? 0 : static_cast<double>(times.total_us) * 1e-6 / static_cast<double>(n);
}

std::string times_line(const char* what, const duration_record& times) {
  std::string line = std::string("  ") + what;
  for (const double seconds : {times.percentile(0.5), times.percentile(0.9), times.percentile(0.99),
                               static_cast<double>(times.longest_us) * 1e-6, mean_of(times)}) {
    const std::string text = times.count() == 0 ? "-" : short_time(seconds);
    line += std::string(text.size() < 9 ? 9 - text.size() : 1, ' ') + text;
  }
  return line + "\n";
}

json_value times_json(const duration_record& times) {
  return {{"count", times.count()},
          {"p50", times.percentile(0.5)},
          {"p90", times.percentile(0.9)},
          {"p99", times.percentile(0.99)},
          {"max", static_cast<double>(times.longest_us) * 1e-6},
          {"mean", mean_of(times)}};
}

void add_head(std::string& out, const char* name, const char* type, const char* help) {
  for (const char* part : {"# HELP kgate_", name, " ", help, "\n# TYPE kgate_", name, " ", type, "\n"}) out += part;
}

/// One line; `bound` is the upper one of a class of a histogram, or empty.
void add_sample(std::string& out, const char* name, const char* ending, const std::string& gate,
                const std::string& bound, const std::string& value) {
  for (const std::string_view part : {std::string_view("kgate_"), std::string_view(name), std::string_view(ending),
                                      std::string_view("{gate=\""), std::string_view(gate), std::string_view("\"")})
    out += part;
  if (!bound.empty()) out.append(",le=\"").append(bound).append("\"");
  out.append("} ").append(value).append("\n");
}

/// A metric of all gates, as Prometheus wants them: together.
template <class Value>
std::string metric(const char* name, const char* type, const char* help, const std::vector<gate_history>& gates,
                   Value value) {
  std::string out;
  add_head(out, name, type, help);
  for (const gate_history& one : gates) add_sample(out, name, "", one.name, "", std::to_string(value(one)));
  return out;
}

std::string decimal(const char* form, double value) {
  char text[32];
  std::snprintf(text, sizeof text, form, value);
  return text;
}

std::string histogram(const char* name, const char* help, const std::vector<gate_history>& gates,
                      duration_record history_record::*which) {
  std::string out;
  add_head(out, name, "histogram", help);
  for (const gate_history& one : gates) {
    const duration_record& times = one.past.ever.*which;
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < time_classes; ++i) {
      sum += times.counts[i];
      if (i % 4 != 3) continue;  // a factor of 16 from one to the next is enough for a monitor
      const double bound = static_cast<double>(std::uint64_t{1} << (i + 1)) * 1e-6;
      add_sample(out, name, "_bucket", one.name, decimal("%g", bound), std::to_string(sum));
    }
    add_sample(out, name, "_bucket", one.name, "+Inf", std::to_string(sum));
    add_sample(out, name, "_sum", one.name, "", decimal("%.6f", static_cast<double>(times.total_us) * 1e-6));
    add_sample(out, name, "_count", one.name, "", std::to_string(sum));
  }
  return out;
}

std::string prometheus_text(const std::vector<gate_history>& gates) {
  const bool knows_healed = gates.empty() || gates.front().healed.has_value();
  return metric("slots", "gauge", "How many may be inside.", gates, [](const auto& g) { return g.slots; }) +
         metric("inside", "gauge", "Slots that are taken.", gates, [](const auto& g) { return g.inside; }) +
         metric("waiting", "gauge", "How many wait.", gates, [](const auto& g) { return g.waiting; }) +
         metric("paused", "gauge", "1 if nobody is let in.", gates, [](const auto& g) { return g.paused ? 1 : 0; }) +
         (knows_healed ? metric("healed_total", "counter", "Participants that died inside or waiting.", gates,
                                [](const auto& g) { return *g.healed; })
                       : std::string()) +
         metric("passages_total", "counter", "Commands that were inside.", gates,
                [](const auto& g) { return g.past.ever.passages; }) +
         metric("refusals_total", "counter", "Commands for which no slot was to be had in time.", gates,
                [](const auto& g) { return g.past.ever.refusals; }) +
         histogram("waited_seconds", "How long commands waited.", gates, &history_record::waited) +
         histogram("held_seconds", "How long commands ran.", gates, &history_record::held);
}

}  // namespace

void report_histories(const request& options, const std::vector<gate_history>& gates) {
  if (options.prometheus) {
    print(prometheus_text(gates));
    return;
  }
  json_value document = json_document();
  json_value& list = document["gates"] = json_value::array();
  std::string out;
  for (const gate_history& one : gates) {
    const history_record& week = one.past.week;
    if (options.json) {
      json_value about = {{"name", one.name},
                          {"days", 7},
                          {"passages", week.passages},
                          {"refusals", week.refusals},
                          {"waited", times_json(week.waited)},
                          {"held", times_json(week.held)}};
      if (one.healed) about["healed"] = *one.healed;
      list.push_back(std::move(about));
    } else {
      out += one.name + ": " + std::to_string(week.passages) + " passages, " + std::to_string(week.refusals) +
             " refused in the last 7 days\n               p50      p90      p99      max     mean\n" +
             times_line("waited", week.waited) + times_line("ran   ", week.held);
    }
  }
  print(options, document, out);
}

}  // namespace kgate::tool
