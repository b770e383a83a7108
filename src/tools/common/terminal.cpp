// SPDX-License-Identifier: Apache-2.0
#include "tools/common/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

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
  const char* const term = std::getenv("TERM");
  const bool refused = no_color != nullptr && *no_color != '\0';
  const bool dumb = term == nullptr || std::strcmp(term, "dumb") == 0;
  return !refused && !dumb && isatty(descriptor) != 0;
}

status_line::status_line() : wanted_(isatty(STDERR_FILENO) != 0) {}

void status_line::show(std::string_view text) {
  if (!wanted_) return;
  // The last column stays free: writing there would move some terminals to the next line.
  const std::size_t width = terminal_width(STDERR_FILENO).value_or(80);
  write_all(STDERR_FILENO, "\r\033[K" + std::string(text.substr(0, width - 1)));
  shown_ = true;
}

void status_line::clear() {
  if (shown_) write_all(STDERR_FILENO, "\r\033[K");
  shown_ = false;
}

}  // namespace kgate::tool
