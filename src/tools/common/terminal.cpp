// SPDX-License-Identifier: Apache-2.0
#include "tools/common/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>

#include "tools/common/text.hpp"

namespace kgate::tool {

bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

std::optional<std::size_t> terminal_width(int descriptor) {
  if (isatty(descriptor) == 0) return std::nullopt;
  winsize size{};
  if (ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

bool wants_colour(int descriptor) {
  const char* const no_color = std::getenv("NO_COLOR");
  const bool refused = no_color != nullptr && *no_color != '\0';
  return !refused && !terminal_is_dumb() && isatty(descriptor) != 0;
}

bool terminal_is_dumb() {
  const char* const term = std::getenv("TERM");
  return term == nullptr || std::strcmp(term, "dumb") == 0;
}

namespace {

volatile std::sig_atomic_t line_is_shown = 0;

bool is_in_foreground() {
  const pid_t foreground = tcgetpgrp(STDERR_FILENO);
  return foreground < 0 || foreground == getpgrp();  // no job control: nothing to disturb
}

}  // namespace

status_line::status_line() : wanted_(isatty(STDERR_FILENO) != 0 && !terminal_is_dumb()) {}

void status_line::show(std::string_view text) {
  if (!wanted_ || !is_in_foreground()) return;
  // The last columns stay free: writing there would move some terminals to the next line, and ^Z or ^C may follow.
  const std::size_t width = terminal_width(STDERR_FILENO).value_or(80);
  write_all(STDERR_FILENO, "\r\033[K" + std::string(cut_to_columns(text, width > 3 ? width - 3 : 0)));
  shown_ = true;
  line_is_shown = 1;
}

void status_line::clear() {
  if (shown_ && line_is_shown != 0 && is_in_foreground()) write_all(STDERR_FILENO, "\r\033[K");
  shown_ = false;
  line_is_shown = 0;
}

void status_line::clear_from_handler() {
  if (line_is_shown != 0) write_all(STDERR_FILENO, "\r\033[K");
  line_is_shown = 0;
}

}  // namespace kgate::tool
