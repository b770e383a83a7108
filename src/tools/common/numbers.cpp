// SPDX-License-Identifier: Apache-2.0
#include "tools/common/numbers.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <system_error>

namespace kgate::tool {

namespace {

/// A finite number that is at least zero, taken off the front of the text.
std::optional<double> take_number(std::string_view& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  if (error != std::errc{} || std::signbit(value) || !std::isfinite(value)) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

}  // namespace

std::optional<long long> parse_whole_number(std::string_view text, int base) {
  long long value = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value, base);
  if (end != last || error == std::errc::invalid_argument) return std::nullopt;
  if (error == std::errc::result_out_of_range)
    return text.front() == '-' ? std::numeric_limits<long long>::min() : std::numeric_limits<long long>::max();
  return value;
}

std::optional<unsigned> parse_id(std::string_view text) {
  constexpr unsigned none = std::numeric_limits<unsigned>::max();  // "do not change it"
  unsigned value = none;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  return end == last && error == std::errc{} && value != none ? std::optional(value) : std::nullopt;
}

std::optional<double> parse_quantity(std::string_view text, std::initializer_list<unit> units) {
  const std::optional<double> value = take_number(text);
  if (!value) return std::nullopt;
  for (const unit& u : units)
    if (text == u.name) return *value * u.factor;
  return std::nullopt;
}

std::optional<double> parse_seconds(std::string_view text) {
  static constexpr std::array<unit, 5> units{{{"d", 86400}, {"h", 3600}, {"m", 60}, {"s", 1}, {"ms", 1e-3}}};
  double total = 0;
  std::size_t next = 0;  // of the units; each may occur once, large ones before small ones
  bool first = true;
  while (first || !text.empty()) {
    const std::optional<double> value = take_number(text);
    if (!value) return std::nullopt;
    if (text.empty()) return first ? value : std::nullopt;  // a bare number is in seconds, and alone
    first = false;
    const std::string_view name = text.substr(0, text.find_first_of("0123456789."));
    while (next < units.size() && units[next].name != name) ++next;
    if (next == units.size()) return std::nullopt;
    total += *value * units[next++].factor;
    text.remove_prefix(name.size());
  }
  return total;
}

}  // namespace kgate::tool
