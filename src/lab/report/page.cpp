// SPDX-License-Identifier: Apache-2.0
#include "lab/report/page.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace kgate::lab::report {

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      case '\'':
        safe += "&#39;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

std::string data_element(std::string_view id, const nlohmann::json& j) {
  std::string safe;
  for (const char c : j.dump(-1, ' ', true)) {
    if (c == '<')
      safe += "\\u003c";
    else
      safe += c;
  }
  return fmt::format("<script type=\"application/json\" id=\"{}\">{}</script>\n", escaped(id), safe);
}

std::string page(std::string_view title, const page_template& from, std::string_view carried) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; base-uri 'none'; form-action 'none'; "
      "style-src 'unsafe-inline'; script-src 'sha256-{}'\">\n"
      "<title>{}</title>\n<style>\n{}</style>\n</head>\n<body>\n{}{}<script>{}</script>\n</body>\n</html>\n",
      from.hash, escaped(title), from.styles, from.markup, carried, from.script);
}

std::string viewer_page(const nlohmann::json& trace) {
  if (!trace.is_object()) return page("kgate trace viewer", viewer_template, "");
  const std::string title =
      fmt::format("{}, N = {}, k = {}: kgate trace viewer", trace.at("algorithm").get<std::string>(),
                  trace.at("N").get<int>(), trace.at("k").get<int>());
  return page(title, viewer_template, data_element("embedded-trace", trace));
}

std::string stepper_page(const nlohmann::json& steps) {
  const std::string title = fmt::format("{}, N = {}, k = {}: step by step", steps.at("algorithm").get<std::string>(),
                                        steps.at("N").get<int>(), steps.at("k").get<int>());
  return page(title, stepper_template, data_element("embedded-steps", steps));
}

}  // namespace kgate::lab::report
