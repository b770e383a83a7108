// SPDX-License-Identifier: Apache-2.0
// kgate top: the live view.
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <cstdio>
#include <ctime>

#include "tools/kgate/status.hpp"

namespace kgate::tool {

namespace {

volatile sig_atomic_t ended = 0;

void on_end(int) { ended = 1; }

/// The terminal without echo and line by line reading, and its other screen; as it was when this goes.
class screen {
 public:
  screen() {
    tcgetattr(STDIN_FILENO, &before_);
    termios raw = before_;
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    print("\033[?1049h\033[?25l");
    std::fflush(stdout);
  }
  screen(const screen&) = delete;
  screen& operator=(const screen&) = delete;
  ~screen() {
    print("\033[?25h\033[?1049l");
    std::fflush(stdout);
    tcsetattr(STDIN_FILENO, TCSANOW, &before_);
  }

 private:
  termios before_{};
};

winsize terminal_size() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) size = {24, 80, 0, 0};
  return size;
}

std::string clock_text() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  localtime_r(&now, &parts);
  char text[16];
  std::strftime(text, sizeof text, "%H:%M:%S", &parts);
  return text;
}

std::vector<std::string> all_lines(const request& options, const std::string& sort, const paint& colour,
                                   std::size_t width) {
  std::vector<std::string> lines;
  for (const view& gate : gate_views(options)) {
    if (gate.failure) {
      lines.push_back(gate.name + ": " + gate.failure.text);
      continue;
    }
    for (std::string& line : lines_of(gate, sort, colour, width)) lines.push_back(std::move(line));
  }
  if (lines.empty()) lines.push_back("no gates in " + directory_of(options));
  return lines;
}

std::string page(const request& options, const std::string& sort, const paint& colour) {
  const winsize size = terminal_size();
  std::string head = "kgate top  " + clock_text() + "  order: " + sort + "   [s]lot [t]ime [u]ser [c]ommand [q]uit";
  if (head.size() > size.ws_col) head.resize(size.ws_col);
  std::string out = "\033[H" + colour("7", head) + "\033[K\r\n";
  const std::vector<std::string> lines = all_lines(options, sort, colour, size.ws_col);
  const std::size_t room = size.ws_row > 2 ? size.ws_row - 2U : 1U;
  for (std::size_t i = 0; i < lines.size() && i < room; ++i) {
    if (i + 1 == room && lines.size() > room)
      out += "  ... " + std::to_string(lines.size() - i) + " more lines\033[K\r\n";
    else
      out += lines[i] + "\033[K\r\n";
  }
  return out + "\033[J";
}

/// A key that was pressed within half a second, or 0; 'q' at the end of input.
char key() {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  if (poll(&input, 1, 500) <= 0) return 0;
  char pressed = 0;
  return read(STDIN_FILENO, &pressed, 1) == 1 ? pressed : 'q';
}

}  // namespace

int top(const request& options) {
  std::string sort = options.sort.empty() ? "slot" : options.sort;
  const paint colour = paint::for_stdout();
  if (options.once || isatty(STDOUT_FILENO) == 0 || isatty(STDIN_FILENO) == 0) {
    for (const std::string& line : all_lines(options, sort, colour, 0)) print(line + "\n");
    return exit_ok;
  }
  for (const int ending : {SIGINT, SIGTERM, SIGHUP}) signal(ending, on_end);
  const screen on_screen;
  while (ended == 0) {
    print(page(options, sort, colour));
    std::fflush(stdout);
    switch (key()) {
      case 's':
        sort = "slot";
        break;
      case 't':
        sort = "time";
        break;
      case 'u':
        sort = "user";
        break;
      case 'c':
        sort = "command";
        break;
      case 'q':
        return exit_ok;
      default:
        break;
    }
  }
  return exit_ok;
}

}  // namespace kgate::tool
