// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The report as a page. Everything it shows is in `data`, which it carries along; docs/experiments.md says how that is
/// made.

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace kgate::lab::report {

/// Throws std::runtime_error if a plot cannot be drawn.
std::string report_page(const nlohmann::json& data);

// Its sections.
std::string catalogue_section(const nlohmann::json& data);
std::string rmr_section(const nlohmann::json& data);
std::string space_section(const nlohmann::json& data);
std::string figures_section(const nlohmann::json& data);
std::string bench_section(const nlohmann::json& data);

/// A link that saves text as a file, without a network.
std::string download(const std::string& file, const std::string& type, const std::string& text,
                     const std::string& label);

}  // namespace kgate::lab::report
