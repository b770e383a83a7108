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

/// Says what could not be seen. How many there were.
int report_failures(const std::vector<view>& gates, const request& options);

/// How many slots are taken.
int inside_of(const view& gate);

/// "running", "stopped", "starting" (granted, and yet to notice it), "idle" (a jobserver's token that no job has
/// taken), or "waiting".
const char* state_of(const detail::gates::participant& who, bool inside);

/// Colour, if standard output is a terminal and NO_COLOR does not forbid it.
struct paint {
  bool on = false;
  static paint for_stdout();
  std::string operator()(const char* code, const std::string& text) const;
};

/// A line about a gate, with the participant it is about, if any.
struct view_line {
  std::string text;
  const char* colour = nullptr;
  const view* gate = nullptr;
  detail::gates::participant who{};
  bool is_participant = false;
  bool inside = false;
};

/// The holders and the queue of a gate.
std::vector<view_line> lines_of(const view& gate, const std::string& sort);

}  // namespace kgate::tool
