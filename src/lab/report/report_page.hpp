// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The report as a page: report.html with the plots and the data, which report.js turns into tables and texts.

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace kgate::lab::report {

/// `data` is what gather() has made. Throws std::runtime_error if a plot cannot be drawn.
std::string report_page(const nlohmann::json& data);

}  // namespace kgate::lab::report
