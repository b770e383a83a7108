// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Numbers as users write them on a command line. Nothing if the text is anything else, also in part.

#include <initializer_list>
#include <optional>
#include <string_view>

namespace kgate::tool {

/// A whole number; one beyond long long is the nearest that there is.
std::optional<long long> parse_whole_number(std::string_view text, int base = 10);

/// The number of a user or group: digits alone, up to 4294967294, which is the last that there is.
std::optional<unsigned> parse_id(std::string_view text);

struct unit {
  std::string_view name;
  double factor;
};
/// A number that is at least zero, with one of the units behind it.
std::optional<double> parse_quantity(std::string_view text, std::initializer_list<unit> units);

/// A duration in seconds: "90", "1.5s", "500ms", "10m", "2h", "1d", or several parts from large to small as in "1h30m".
std::optional<double> parse_seconds(std::string_view text);

}  // namespace kgate::tool
