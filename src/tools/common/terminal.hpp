// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a program needs to know of the terminal it may be writing to.

#include <cstddef>
#include <optional>
#include <string_view>

namespace kgate::tool {

/// Writes everything; false, with errno set, if that fails.
bool write_all(int descriptor, std::string_view text);

/// The columns of the terminal behind a descriptor; none if it is not a terminal.
std::optional<std::size_t> terminal_width(int descriptor);

/// Whether what is written to the descriptor may have colours: a terminal that is not dumb, and no NO_COLOR.
bool wants_colour(int descriptor);

/// Whether the terminal cannot move its cursor: TERM is dumb, or not set.
bool terminal_is_dumb();

/// One line on a terminal's stderr that is rewritten in place; nothing if stderr is not a terminal that can do it, or
/// while this process is in its background.
class status_line {
 public:
  status_line();
  ~status_line() { clear(); }
  status_line(const status_line&) = delete;
  status_line& operator=(const status_line&) = delete;

  bool wanted() const { return wanted_; }
  /// Shows the text, cut to the width of the terminal.
  void show(std::string_view text);
  void clear();
  /// For a signal handler: clears what any of these shows.
  static void clear_from_handler();

 private:
  bool wanted_;
  bool shown_ = false;
};

}  // namespace kgate::tool
