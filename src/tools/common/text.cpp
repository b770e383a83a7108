// SPDX-License-Identifier: Apache-2.0
#include "tools/common/text.hpp"

#include <algorithm>
#include <iterator>

namespace kgate::tool {

namespace {

constexpr char32_t invalid = 0x110000;
constexpr char32_t cut_off = 0x110001;

struct range {
  char32_t first, last;
};

template <std::size_t N>
bool is_in(const range (&ranges)[N], char32_t c) {
  return std::any_of(std::begin(ranges), std::end(ranges), [&](const range& r) { return c >= r.first && c <= r.last; });
}

/// Takes one character off the front of the text.
char32_t take(std::string_view& text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  const std::size_t length = first < 0x80                    ? 1
                             : first >= 0xF0 && first < 0xF5 ? 4
                             : first >= 0xE0 && first < 0xF0 ? 3
                             : first >= 0xC2 && first < 0xE0 ? 2
                                                             : 0;
  char32_t c = length == 1 ? first : first & (0xFFU >> (length + 1));
  std::size_t used = 1;
  while (used < length && used < text.size() && (byte(used) & 0xC0) == 0x80) c = c << 6 | (byte(used++) & 0x3FU);
  const bool ends_here = used == text.size();
  text.remove_prefix(used);
  if (length == 0) return invalid;
  if (used < length) return ends_here ? cut_off : invalid;
  const bool overlong = (length == 3 && c < 0x800) || (length == 4 && c < 0x10000);
  const bool surrogate = c >= 0xD800 && c < 0xE000;
  return overlong || surrogate || c > 0x10FFFF ? invalid : c;
}

/// Whether a character changes how others are shown, or is no character at all.
bool is_unfit(char32_t c) {
  static constexpr range unfit[] = {{0, 0x1F},          {0x7F, 0x9F},      {0x061C, 0x061C}, {0x200E, 0x200F},
                                    {0x2028, 0x202E},   {0x2066, 0x2069},  {0xFEFF, 0xFEFF}, {0xFFF9, 0xFFFB},
                                    {0xE0000, 0xE007F}, {invalid, invalid}};
  return is_in(unfit, c);
}

std::size_t columns_of(char32_t c) {
  static constexpr range none[] = {
      {0x0300, 0x036F}, {0x200B, 0x200D}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}};
  static constexpr range wide[] = {{0x1100, 0x115F},   {0x2E80, 0xA4CF},   {0xAC00, 0xD7A3},  {0xF900, 0xFAFF},
                                   {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},  {0x1F300, 0x1F64F},
                                   {0x1F680, 0x1F6FF}, {0x1F900, 0x1FAFF}, {0x20000, 0x3FFFD}};
  return is_in(none, c) ? 0 : is_in(wide, c) ? 2 : 1;
}

}  // namespace

std::string displayable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::string_view before = text;
    const char32_t c = take(text);
    if (c == cut_off) break;
    if (is_unfit(c))
      out += "\xEF\xBF\xBD";
    else
      out += before.substr(0, before.size() - text.size());
  }
  return out;
}

std::size_t columns_of(std::string_view text) {
  std::size_t columns = 0;
  while (!text.empty()) columns += columns_of(take(text));
  return columns;
}

std::string_view cut_to_columns(std::string_view text, std::size_t columns) {
  std::string_view left = text;
  while (!left.empty()) {
    const std::string_view before = left;
    const std::size_t wide = columns_of(take(left));
    if (wide > columns) return text.substr(0, text.size() - before.size());
    columns -= wide;
  }
  return text;
}

std::string_view cut_to_bytes(std::string_view text, std::size_t bytes) {
  if (text.size() <= bytes) return text;
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xC0) == 0x80) --bytes;
  return text.substr(0, bytes);
}

}  // namespace kgate::tool
