// SPDX-License-Identifier: Apache-2.0
// kgate top: the live view.
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <ctime>

#include "tools/common/terminal.hpp"
#include "tools/common/text.hpp"
#include "tools/kgate/signalling.hpp"
#include "tools/kgate/status.hpp"
#include "tools/kgate/waiting.hpp"

namespace kgate::tool {

using namespace detail::gates;

namespace {

volatile sig_atomic_t end_wanted = 0;
volatile sig_atomic_t stop_wanted = 0;

void on_end(int) { end_wanted = 1; }
void on_stop(int) { stop_wanted = 1; }

/// The terminal without echo and line by line reading, and its other screen; as it was when this goes.
class screen {
 public:
  screen() { take(); }
  screen(const screen&) = delete;
  screen& operator=(const screen&) = delete;
  ~screen() { give_back(); }

  /// Stops, with the terminal as it was, until the shell continues this process.
  void stop() {
    give_back();
    raise(SIGSTOP);
    take();
  }

 private:
  void take() {
    tcgetattr(STDIN_FILENO, &before_);
    termios raw = before_;
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    print("\033[?1049h\033[?25l");
    std::fflush(stdout);
  }
  void give_back() {
    print("\033[?25h\033[?1049l");
    std::fflush(stdout);
    tcsetattr(STDIN_FILENO, TCSANOW, &before_);
  }

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

std::vector<view_line> all_lines(const request& options, const std::vector<view>& gates, const std::string& sort) {
  std::vector<view_line> lines;
  for (const view& gate : gates) {
    if (gate.failure)
      lines.push_back({gate.name + ": " + displayable(gate.failure.text), nullptr, &gate});
    else
      for (view_line& line : lines_of(gate, sort)) lines.push_back(std::move(line));
  }
  if (lines.empty()) lines.push_back({"no gates in " + displayable(directory_of(options))});
  return lines;
}

enum key : int { key_none, key_end = 256, key_up, key_down, key_page_up, key_page_down, key_home };

/// The keys that are pressed, one by one, however many arrive at once.
class keyboard {
 public:
  /// A key that was pressed within a while, or key_none; key_end at the end of input.
  int next(int while_ms) {
    if (left_.empty()) {
      pollfd input{STDIN_FILENO, POLLIN, 0};
      if (poll(&input, 1, while_ms) <= 0) return key_none;
      char bytes[64];
      const ssize_t got = read(STDIN_FILENO, bytes, sizeof bytes);
      if (got < 0 && errno == EINTR) return key_none;
      if (got <= 0) return key_end;
      left_.assign(bytes, static_cast<std::size_t>(got));
    }
    const std::size_t length = first_length();
    const std::string key = left_.substr(0, length);
    left_.erase(0, length);
    return code_of(key);
  }

 private:
  /// A sequence ends with a letter or a tilde: ESC [ 5 ~, ESC O A.
  std::size_t first_length() const {
    if (left_[0] != '\033' || left_.size() < 3 || (left_[1] != '[' && left_[1] != 'O')) return 1;
    const std::size_t end = left_.find_first_not_of("0123456789;", 2);
    return end == std::string::npos ? left_.size() : end + 1;
  }
  static int code_of(const std::string& key) {
    if (key.size() == 1) return key[0] == '\033' ? static_cast<int>(key_none) : static_cast<unsigned char>(key[0]);
    if (key == "\033[A" || key == "\033OA") return key_up;
    if (key == "\033[B" || key == "\033OB") return key_down;
    if (key == "\033[5~") return key_page_up;
    if (key == "\033[6~") return key_page_down;
    if (key == "\033[H" || key == "\033OH" || key == "\033[1~") return key_home;
    return key_none;
  }

  std::string left_;
};

/// The view: which lines, which of them is selected, and what is said at the bottom.
class live_view {
 public:
  explicit live_view(const request& options) : options_(options), sort_(options.sort.empty() ? "slot" : options.sort) {}

  void refresh() {
    gates_ = gate_views(options_);
    lines_ = all_lines(options_, gates_, sort_);
    follow_selection();
  }

  std::string page() {
    const winsize size = terminal_size();
    const std::size_t width = size.ws_col;
    const std::size_t room = size.ws_row > 3 ? size.ws_row - 3U : 1U;
    scroll_into(room);
    // The keys fit into 80 columns; the rest is shown where there is room.
    const std::string head = "order: " + sort_ + "  [s]lot [t]ime [u]ser [c]ommand  [x]cancel [T]erm [K]ill [q]uit   " +
                             clock_text() + "  kgate top";
    std::string out = "\033[H" + colour_("7", std::string(cut_to_columns(head, width))) + "\033[K\r\n";
    for (std::size_t i = first_; i < lines_.size() && i < first_ + room; ++i) {
      const bool chosen = i == selected_ && lines_[i].is_participant;
      const std::string& line = lines_[i].text;
      const std::string shown = chosen ? ">" + line.substr(1) : line;  // such a line begins with a blank
      out += colour_(chosen ? "7" : lines_[i].colour, std::string(cut_to_columns(shown, width))) + "\033[K\r\n";
    }
    std::string foot = message_;
    if (foot.empty() && lines_.size() > room)
      foot = "lines " + std::to_string(first_ + 1) + " to " + std::to_string(std::min(first_ + room, lines_.size())) +
             " of " + std::to_string(lines_.size());
    return out + "\033[J" + std::string(cut_to_columns(foot, width));
  }

  void order_by(const char* key) { sort_ = key; }
  void say(std::string text) { message_ = std::move(text); }
  const view_line* chosen() const {
    return selected_ < lines_.size() && lines_[selected_].is_participant ? &lines_[selected_] : nullptr;
  }

  /// Moves the selection by so many participants.
  void move(int by) {
    const int step = by < 0 ? -1 : 1;
    for (int left = by < 0 ? -by : by; left > 0; --left) {
      auto at = static_cast<std::ptrdiff_t>(selected_);
      do at += step;
      while (at >= 0 && at < std::ssize(lines_) && !lines_[static_cast<std::size_t>(at)].is_participant);
      if (at < 0) first_ = 0;
      if (at < 0 || at >= std::ssize(lines_)) break;
      selected_ = static_cast<std::size_t>(at);
    }
    remember();
  }

 private:
  void remember() {
    const view_line* const line = chosen();
    chosen_gate_ = line != nullptr ? line->gate->name : "";
    chosen_bits_ = line != nullptr ? line->who.state_bits >> 2 : 0;
    chosen_member_ = line != nullptr ? line->who.member : 0;
  }
  /// The same participant stays selected where it moves; else the line stays.
  void follow_selection() {
    for (std::size_t i = 0; i < lines_.size(); ++i)
      if (lines_[i].is_participant && lines_[i].gate->name == chosen_gate_ && lines_[i].who.member == chosen_member_ &&
          lines_[i].who.state_bits >> 2 == chosen_bits_) {
        selected_ = i;
        return;
      }
    selected_ = std::min(selected_, lines_.size() - 1);
    while (selected_ + 1 < lines_.size() && !lines_[selected_].is_participant) ++selected_;
    while (selected_ > 0 && !lines_[selected_].is_participant) --selected_;
    remember();
  }
  void scroll_into(std::size_t room) {
    if (selected_ < first_ + (selected_ > 1 ? 2U : 0U)) first_ = selected_ > 1 ? selected_ - 2 : 0;
    if (selected_ >= first_ + room) first_ = selected_ - room + 1;
    if (lines_.size() <= room) first_ = 0;
  }

  const request& options_;
  std::string sort_;
  const paint colour_ = paint::for_stdout();
  std::vector<view> gates_;
  std::vector<view_line> lines_;
  std::size_t first_ = 0, selected_ = 0;
  std::string chosen_gate_;
  std::uint64_t chosen_bits_ = 0;
  unsigned chosen_member_ = 0;
  std::string message_;
};

/// Asks at the bottom of the screen; true for y.
bool confirmed(live_view& shown, keyboard& keys, const std::string& question) {
  shown.say("[y/n] " + question);  // what is asked for comes first: the line may be cut
  print(shown.page());
  std::fflush(stdout);
  int pressed = key_none;
  while (pressed == key_none && end_wanted == 0) pressed = keys.next(500);
  shown.say("");
  return pressed == 'y' || pressed == 'Y';
}

/// Opens the gate of a line; says why not at the bottom of the screen.
bool open_gate_of(const request& options, live_view& shown, const view_line& line, core& gate) {
  const gate_failure failure = open_existing(line.gate->name, options, gate);
  if (failure) shown.say(displayable(failure.text));
  return !failure;
}

void cancel_chosen(const request& options, live_view& shown, keyboard& keys, const view_line& line) {
  if (line.inside) return shown.say("only one that waits can be cancelled; T ends the command of a holder");
  if (!confirmed(shown, keys,
                 "cancel process " + std::to_string(line.who.process) + " at gate '" + line.gate->name + "'?"))
    return;
  core gate;
  membership mine;
  if (!open_gate_of(options, shown, line, gate)) return;
  if (const gate_failure failure = gate.join("kgate top", mine)) return shown.say(failure.text);
  shown.say(gate.dismiss(mine, line.who) ? "cancelled" : "it does not wait any more");
}

void signal_chosen(const request& options, live_view& shown, keyboard& keys, const view_line& line, int number,
                   const char* name) {
  const int process = command_of(line.who) != 0 ? command_of(line.who) : line.who.process;
  if (!confirmed(shown, keys,
                 std::string("send ") + name + " to process " + std::to_string(process) + ", " +
                     displayable(line.who.command) + "?"))
    return;
  core gate;
  if (!open_gate_of(options, shown, line, gate)) return;
  const std::string refused = send_signal(gate, line.who, number);
  shown.say(refused.empty() ? std::string(name) + " sent" : "not sent: " + displayable(refused));
}

/// False if the view shall end.
bool act(const request& options, live_view& shown, keyboard& keys, int pressed) {
  if (pressed == key_none) return true;
  shown.say("");
  const view_line* const found = shown.chosen();
  const view_line line = found != nullptr ? *found : view_line{};
  switch (pressed) {
    case 's':
      shown.order_by("slot");
      break;
    case 't':
      shown.order_by("time");
      break;
    case 'u':
      shown.order_by("user");
      break;
    case 'c':
      shown.order_by("command");
      break;
    case 'k':
    case key_up:
      shown.move(-1);
      break;
    case 'j':
    case key_down:
      shown.move(1);
      break;
    case key_page_up:
      shown.move(-10);
      break;
    case key_page_down:
    case ' ':
      shown.move(10);
      break;
    case key_home:
      shown.move(-1'000'000);
      break;
    case 'x':
      if (found != nullptr) cancel_chosen(options, shown, keys, line);
      break;
    case 'T':
      if (found != nullptr) signal_chosen(options, shown, keys, line, SIGTERM, "SIGTERM");
      break;
    case 'K':
      if (found != nullptr) signal_chosen(options, shown, keys, line, SIGKILL, "SIGKILL");
      break;
    case 'q':
    case key_end:
      return false;
    default:
      break;
  }
  return true;
}

int print_once(const request& options) {
  const std::vector<view> gates = gate_views(options);
  const int failures = report_failures(gates, options);
  const paint colour = paint::for_stdout();
  for (const view& gate : gates)
    if (!gate.failure)
      for (const view_line& line : lines_of(gate, options.sort.empty() ? "slot" : options.sort))
        print(colour(line.colour, line.text) + "\n");
  if (gates.empty()) complain("no gates in " + directory_of(options));
  return failures == 0 ? exit_ok : exit_failed;
}

}  // namespace

int top(const request& options) {
  if (!can_list(options)) return exit_failed;
  const bool live = !options.once && isatty(STDOUT_FILENO) != 0 && isatty(STDIN_FILENO) != 0 && !terminal_is_dumb();
  if (!live) return print_once(options);
  if (options.named) {  // a gate that cannot be seen at all is an error, as for status
    const std::vector<view> first = gate_views(options);
    if (report_failures(first, options) != 0) return exit_failed;
  }
  struct sigaction action {};
  action.sa_handler = on_end;
  for (const int ending : {SIGINT, SIGTERM, SIGHUP}) sigaction(ending, &action, nullptr);
  action.sa_handler = on_stop;
  sigaction(SIGTSTP, &action, nullptr);
  screen on_screen;
  live_view shown(options);
  keyboard keys;
  for (;;) {
    shown.refresh();
    print(shown.page());
    std::fflush(stdout);
    const int pressed = keys.next(500);
    if (stop_wanted != 0) {
      stop_wanted = 0;
      on_screen.stop();
    }
    if (end_wanted != 0 || !act(options, shown, keys, pressed)) return exit_ok;
  }
}

}  // namespace kgate::tool
