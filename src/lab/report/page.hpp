// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Self-contained pages: they open from a file, without a network, and a policy inside them forbids any request.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace kgate::lab::report {

/// Text made safe between tags and in quoted attributes.
std::string escaped(std::string_view text);

/// JSON as it may stand inside a script element: nothing in it can end that element.
std::string script_json(const nlohmann::json& j);

/// A whole document: head with the styles that all pages share, then `body`.
std::string page(std::string_view title, std::string_view styles, std::string_view body);

/// The trace viewer, showing this trace if it is an object; else it asks for a file.
std::string viewer_page(const nlohmann::json& trace);

}  // namespace kgate::lab::report
