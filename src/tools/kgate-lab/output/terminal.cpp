// SPDX-License-Identifier: Apache-2.0
#include "tools/kgate-lab/output/terminal.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
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

bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

void print(std::string_view text) {
  if (!write_all(STDOUT_FILENO, text)) throw failure(fmt::format("cannot write to stdout: {}", std::strerror(errno)));
}

std::optional<std::size_t> terminal_width(int descriptor) {
  if (isatty(descriptor) == 0) return std::nullopt;
  winsize size{};
  if (ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

bool stdout_has_colours() {
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  const bool refused = no_color != nullptr && *no_color != '\0';
  const bool dumb = term == nullptr || std::strcmp(term, "dumb") == 0;
  return !refused && !dumb && isatty(STDOUT_FILENO) != 0;
}

std::string coloured(std::string_view text, colour c) {
  static const bool wanted = stdout_has_colours();
  return wanted ? fmt::format("\033[{}m{}\033[0m", static_cast<int>(c), text) : std::string(text);
}

progress_line::progress_line() : wanted_(isatty(STDERR_FILENO) != 0) {}

void progress_line::show(const lab::progress& now) { show(progress_text(now)); }

void progress_line::show(const std::string& text) {
  if (!wanted_) return;
  // The last column stays free: writing there would move some terminals to the next line.
  write_all(STDERR_FILENO, "\r\033[K" + text.substr(0, terminal_width(STDERR_FILENO).value_or(80) - 1));
  shown_ = true;
}

void progress_line::clear() {
  if (shown_) write_all(STDERR_FILENO, "\r\033[K");
  shown_ = false;
}

}  // namespace kgate::tool
