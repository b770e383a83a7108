// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Where the tool's words go: results to stdout, checked to the last byte; the progress line to a terminal's stderr.

#include <optional>
#include <string>
#include <string_view>

#include "lab/checker/explore/explorer.hpp"

namespace kgate::tool {

/// Writes everything; false, with errno set, if that fails.
bool write_all(int descriptor, std::string_view text);

/// Writes a result to stdout. Throws failure if not all of it arrives.
void print(std::string_view text);

/// The columns of the terminal behind a descriptor; none if it is not a terminal.
std::optional<std::size_t> terminal_width(int descriptor);

/// Whether stdout wants colours: a terminal that is not dumb, and no NO_COLOR.
bool stdout_has_colours();

enum class colour { green = 32, red = 31, yellow = 33, bold = 1 };
std::string coloured(std::string_view text, colour c);

/// One line on stderr that says how far a run is, rewritten in place; nothing if stderr is not a terminal.
class progress_line {
 public:
  progress_line();
  ~progress_line() { clear(); }
  progress_line(const progress_line&) = delete;
  progress_line& operator=(const progress_line&) = delete;

  bool wanted() const { return wanted_; }
  void show(const lab::progress& now);
  void show(const std::string& text);
  void clear();

 private:
  bool wanted_;
  bool shown_ = false;
};

}  // namespace kgate::tool
