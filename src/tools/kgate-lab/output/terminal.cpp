// SPDX-License-Identifier: Apache-2.0
#include "tools/kgate-lab/output/terminal.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "tools/kgate-lab/exit_code.hpp"
#include "tools/kgate-lab/output/text.hpp"

namespace kgate::tool {

namespace {

std::string progress_text(const lab::progress& now) {
  if (std::string_view(now.phase) == "exploring")
    return fmt::format("exploring: {} states, {}/s, queue {}, {}", rounded(static_cast<double>(now.states)),
                       rounded(now.per_second), rounded(static_cast<double>(now.queue)), bytes_text(now.bytes));
  return fmt::format("{}: {} of {}, {}", now.phase, rounded(static_cast<double>(now.states)),
                     rounded(static_cast<double>(now.states + now.queue)), bytes_text(now.bytes));
}

}  // namespace

void print(std::string_view text) {
  if (!write_all(STDOUT_FILENO, text)) throw failure(fmt::format("cannot write to stdout: {}", std::strerror(errno)));
}

std::string coloured(std::string_view text, colour c) {
  static const bool wanted = wants_colour(STDOUT_FILENO);
  return wanted ? fmt::format("\033[{}m{}\033[0m", static_cast<int>(c), text) : std::string(text);
}

void progress_line::show(const lab::progress& now) { show(progress_text(now)); }

}  // namespace kgate::tool
