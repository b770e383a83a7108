// SPDX-License-Identifier: Apache-2.0
#include "lab/report/report_page.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "lab/report/assets.hpp"
#include "lab/report/page.hpp"

namespace kgate::lab::report {

namespace {

std::string machine_section(const nlohmann::json& data) {
  std::string rows;
  for (const auto& [name, value] : data.at("machine").items())
    rows += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td></tr>\n", escaped(name),
                        escaped(value.is_string() ? value.get<std::string>() : value.dump()));
  return fmt::format(
      "<section aria-labelledby=\"machine\"><h2 id=\"machine\">Machine and versions</h2>\n<table><tbody>{}"
      "<tr><th scope=\"row\">made</th><td>{}</td></tr>\n<tr><th scope=\"row\">took</th><td>{:.0f} s</td></tr>\n"
      "<tr><th scope=\"row\">effort</th><td>{}</td></tr></tbody></table>\n<p>{}</p></section>\n",
      rows, escaped(data.at("made").get<std::string>()), data.at("seconds").get<double>(),
      escaped(data.at("effort").get<std::string>()),
      download("kgate-report.json", "application/json", data.dump(), "All data of this page as JSON"));
}

}  // namespace

std::string download(const std::string& file, const std::string& type, const std::string& text,
                     const std::string& label) {
  std::string coded;
  for (const char c : text) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
                       c == '.' || c == '_' || c == ',' || c == ':' || c == '{' || c == '}' || c == '[' || c == ']';
    if (plain)
      coded += c;
    else
      coded += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return fmt::format("<a download=\"{}\" href=\"data:{};charset=utf-8,{}\">{}</a>", escaped(file), type, coded,
                     escaped(label));
}

std::string report_page(const nlohmann::json& data) {
  std::string body =
      "<a class=\"skip\" href=\"#main\">Skip to the content</a>\n<header><h1>kgate-lab: the papers, measured</h1>\n"
      "<p>Algorithms of five papers on k-exclusion: what they promise and what exploring every interleaving says, what "
      "a passage "
      "costs, and the experiments. A counterexample can be followed step by step in the <a href=\"viewer.html\">trace "
      "viewer</a>.</p>\n"
      "<nav aria-label=\"Contents\"><ul>\n"
      "<li><a href=\"#observations\">Figures 10 and 11: what holds</a></li><li><a href=\"#figures\">Figures 10 and 11: "
      "the curves</a></li>\n"
      "<li><a href=\"#catalogue\">Catalogue: promises and verdicts</a></li><li><a href=\"#rmr\">Remote memory "
      "references</a></li>\n"
      "<li><a href=\"#space\">Space</a></li>";
  if (!data.at("bench").is_null()) body += "<li><a href=\"#bench\">Semaphores</a></li>";
  body += "<li><a href=\"#machine\">Machine and versions</a></li>\n</ul></nav></header>\n<main id=\"main\">\n";
  body += figures_section(data) + catalogue_section(data) + rmr_section(data) + space_section(data) +
          bench_section(data) + machine_section(data);
  body += "</main>\n";
  return page("kgate-lab: the papers, measured", report_css, body);
}

}  // namespace kgate::lab::report
