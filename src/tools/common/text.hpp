// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Text of others, such as command lines, made fit for a terminal, a table or a document.

#include <cstddef>
#include <string>
#include <string_view>

namespace kgate::tool {

/// Valid UTF-8 without anything that steers a terminal or the order of what is read: control characters (C0, C1),
/// marks and isolates of direction, line and paragraph separators and invalid bytes become U+FFFD. A character that
/// the end of the text cut off is left out.
std::string displayable(std::string_view text);

/// How many columns displayable text takes.
std::size_t columns_of(std::string_view text);

/// As much of displayable text as fits into so many columns, in whole characters.
std::string_view cut_to_columns(std::string_view text, std::size_t columns);

/// As much of a text as fits into so many bytes, without a part of a character at the end.
std::string_view cut_to_bytes(std::string_view text, std::size_t bytes);

}  // namespace kgate::tool
