// SPDX-License-Identifier: Apache-2.0
#pragma once

/// JSON as kgate prints it: members in a fixed order, text fit for display, the schema's number first.

#include <nlohmann/json.hpp>
#include <string_view>

#include "tools/common/text.hpp"
#include "tools/kgate/spec.hpp"

namespace kgate::tool {

using json_value = nlohmann::ordered_json;

/// What documents of one number have in common is in kgate(7). Members may be added without a new number.
inline constexpr int json_schema = 1;

inline json_value json_document() { return {{"schema", json_schema}}; }
inline json_value json_text(std::string_view text) { return displayable(text); }
void print_json(const json_value& document);
/// The document or the text, as was asked for.
void print(const request& options, const json_value& document, const std::string& text);

}  // namespace kgate::tool
