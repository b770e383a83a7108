// SPDX-License-Identifier: Apache-2.0
#include "lab/report/page.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "lab/report/assets.hpp"

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

std::string script_json(const nlohmann::json& j) {
  std::string safe;
  for (const char c : j.dump(-1, ' ', true)) {
    if (c == '<')
      safe += "\\u003c";
    else
      safe += c;
  }
  return safe;
}

std::string page(std::string_view title, std::string_view styles, std::string_view body) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
      "script-src 'unsafe-inline'\">\n"
      "<title>{}</title>\n<style>\n{}{}</style>\n</head>\n<body>\n{}</body>\n</html>\n",
      escaped(title), page_css, styles, body);
}

std::string viewer_page(const nlohmann::json& trace) {
  std::string body(viewer_html);
  std::string title = "kgate trace viewer";
  if (trace.is_object()) {
    title = fmt::format("{}, N = {}, k = {}: kgate trace viewer", trace.at("algorithm").get<std::string>(),
                        trace.at("N").get<int>(), trace.at("k").get<int>());
    body += fmt::format("<script type=\"application/json\" id=\"embedded-trace\">{}</script>\n", script_json(trace));
  }
  body += fmt::format("<script>\n{}</script>\n", viewer_js);
  return page(title, viewer_css, body);
}

}  // namespace kgate::lab::report
