// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tools/kgate/tool.hpp"

namespace kgate::tool {

/// One gate as it is now, or why it cannot be seen.
struct view {
  std::string name;
  detail::gates::snapshot seen;
  gate_failure failure;
};

/// The gates that were asked for, by name or all of the directory. Those this user may write to are healed first.
std::vector<view> gate_views(const request& options);

/// Colour, if standard output is a terminal and NO_COLOR does not forbid it.
struct paint {
  bool on = false;
  static paint for_stdout();
  std::string operator()(const char* code, const std::string& text) const;
};

/// The holders and the queue of a gate, as lines of text no wider than `width` (0: as wide as they are).
std::vector<std::string> lines_of(const view& gate, const std::string& sort, const paint& colour, std::size_t width);

}  // namespace kgate::tool
