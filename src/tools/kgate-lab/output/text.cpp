// SPDX-License-Identifier: Apache-2.0
#include "tools/kgate-lab/output/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace kgate::tool {

namespace {

/// Levenshtein's distance.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t change = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({change, row[j] + 1, diagonal + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string grouped(std::uint64_t n) {
  std::string text = std::to_string(n);
  for (std::size_t at = text.size(); at > 3;) {
    at -= 3;
    text.insert(at, ",");
  }
  return text;
}

std::string rounded(double n) {
  constexpr const char* units[] = {"", "k", "M", "G", "T"};
  std::size_t unit = 0;
  while (n >= 999.5 && unit + 1 < std::size(units)) {
    n /= 1000;
    ++unit;
  }
  if (unit == 0) return fmt::format("{:.0f}", n);
  return fmt::format("{:.{}f}{}", n, n < 9.995 ? 2 : n < 99.95 ? 1 : 0, units[unit]);
}

std::string bytes_text(std::uint64_t bytes) {
  if (bytes < 1'000'000) return fmt::format("{:.0f} kB", static_cast<double>(bytes) / 1e3);
  if (bytes < 1'000'000'000) return fmt::format("{:.0f} MB", static_cast<double>(bytes) / 1e6);
  return fmt::format("{:.2f} GB", static_cast<double>(bytes) / 1e9);
}

std::string count_text(std::uint64_t n, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", grouped(n), n == 1 ? one : many);
}

std::string one_line(std::string_view text) {
  std::string line;
  for (const char c : text) line += static_cast<unsigned char>(c) < 0x20 || c == 0x7F ? '?' : c;
  // What the user gave may be of any length; what is allowed stands at the end.
  constexpr std::size_t first = 300, last = 1000;
  if (line.size() > first + last) line.replace(first, line.size() - first - last, " ... ");
  return line;
}

std::vector<std::size_t> table::widths() const {
  std::vector<std::size_t> widest;
  for (const auto& row : rows_) {
    widest.resize(std::max(widest.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widest[i] = std::max(widest[i], row[i].size());
  }
  return widest;
}

std::size_t table::width(std::size_t first, std::size_t last) const {
  const auto widest = widths();
  std::size_t sum = 0;
  for (std::size_t i = first; i <= last && i < widest.size(); ++i) sum += widest[i] + (i == first ? 0 : gap_);
  return sum;
}

std::vector<std::string> table::lines() const {
  const auto widest = widths();
  std::vector<std::string> all;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) line += fmt::format("{:<{}}", row[i], widest[i] + gap_);
    line.erase(line.find_last_not_of(' ') + 1);
    all.push_back(std::move(line));
  }
  return all;
}

std::string table::text(std::string_view indent) const {
  std::string text;
  for (const std::string& line : lines()) text += line.empty() ? "\n" : fmt::format("{}{}\n", indent, line);
  return text;
}

std::string wrapped(std::string_view text, std::size_t indent, std::size_t width) {
  std::string result;
  std::size_t column = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::size_t length = end - at;
    if (column > 0 && column + 1 + length > width) {
      result += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (column > 0) {
      result += ' ';
      ++column;
    }
    result += text.substr(at, length);
    column += length;
    at = end + 1;
  }
  return result;
}

std::vector<std::string> nearest(std::string_view wrong, const std::vector<std::string>& words, std::size_t count) {
  std::vector<std::pair<std::size_t, std::string>> ranked;
  for (const std::string& word : words) {
    std::size_t far = distance(wrong, word);
    // Part of a word is a better hint than a word of the same length.
    if (!wrong.empty() && word.find(wrong) != std::string::npos) far /= 4;
    ranked.emplace_back(far, word);
  }
  std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> best;
  for (std::size_t i = 0; i < std::min(count, ranked.size()); ++i) best.push_back(ranked[i].second);
  return best;
}

}  // namespace kgate::tool
