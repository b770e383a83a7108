// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Text for people: numbers, tables, the nearest words.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kgate::tool {

/// 1,234,567
std::string grouped(std::uint64_t n);
/// 1.23M
std::string rounded(double n);
/// 1.2 GB
std::string bytes_text(std::uint64_t bytes);
/// "1 crash", "2 crashes"
std::string count_text(std::uint64_t n, std::string_view one, std::string_view many);

/// Control characters made visible, so that a message stays on one line.
std::string one_line(std::string_view text);

/// Rows of cells in aligned columns.
class table {
 public:
  explicit table(std::size_t gap = 2) : gap_(gap) {}

  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  /// The width that columns first..last need together.
  std::size_t width(std::size_t first, std::size_t last) const;
  /// One string per row; nothing follows the last cell that is not empty.
  std::vector<std::string> lines() const;
  std::string text(std::string_view indent) const;

 private:
  std::vector<std::size_t> widths() const;
  std::size_t gap_;
  std::vector<std::vector<std::string>> rows_;
};

/// Words broken into lines of at most `width` characters, all but the first indented.
std::string wrapped(std::string_view text, std::size_t indent, std::size_t width);

/// The words most like `wrong`, best first, at most `count`.
std::vector<std::string> nearest(std::string_view wrong, const std::vector<std::string>& words, std::size_t count);

}  // namespace kgate::tool
