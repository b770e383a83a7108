// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Where the tool's words go: results to stdout, checked to the last byte; the progress line to a terminal's stderr.

#include <string>
#include <string_view>

#include "lab/checker/explore/explorer.hpp"
#include "tools/common/terminal.hpp"

namespace kgate::tool {

/// Writes a result to stdout. Throws failure if not all of it arrives.
void print(std::string_view text);

enum class colour { green = 32, red = 31, yellow = 33, bold = 1 };
std::string coloured(std::string_view text, colour c);

/// The status line of a run of the checker.
class progress_line : public status_line {
 public:
  using status_line::show;
  void show(const lab::progress& now);
};

}  // namespace kgate::tool
