// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The styles, scripts and markup of the pages, as they stand in this folder: they travel inside the program.

#include <string_view>

namespace kgate::lab::report {

extern const std::string_view page_css;
extern const std::string_view report_css;
extern const std::string_view viewer_css;
extern const std::string_view viewer_html;
extern const std::string_view viewer_js;

}  // namespace kgate::lab::report
