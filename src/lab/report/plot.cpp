// SPDX-License-Identifier: Apache-2.0
#include "lab/report/plot.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <stdexcept>

#include "lab/report/page.hpp"

extern char** environ;

namespace kgate::lab::report {

namespace {

/// A pipe whose ends are closed when it goes.
class pipe_pair {
 public:
  pipe_pair() {
    if (::pipe2(ends_, O_CLOEXEC) != 0) throw std::runtime_error("no pipe to gnuplot");
  }
  pipe_pair(const pipe_pair&) = delete;
  pipe_pair& operator=(const pipe_pair&) = delete;
  ~pipe_pair() {
    close_end(0);
    close_end(1);
  }
  int out() const { return ends_[0]; }
  int in() const { return ends_[1]; }
  void close_end(int which) {
    if (ends_[which] >= 0) ::close(ends_[which]);
    ends_[which] = -1;
  }

 private:
  int ends_[2] = {-1, -1};
};

/// What gnuplot prints for a script.
std::string gnuplot(const std::string& script) {
  pipe_pair to, from;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, to.out(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, from.in(), STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  // A user's start-up file could change how everything looks.
  const char* const arguments[] = {"gnuplot", "-d", "-", nullptr};
  pid_t child = 0;
  const int error = ::posix_spawnp(&child, "gnuplot", &actions, nullptr, const_cast<char**>(arguments), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw std::runtime_error("gnuplot cannot be run: install gnuplot-nox");
  to.close_end(0);
  from.close_end(1);
  std::string output;
  std::size_t sent = 0;
  char buffer[65536];
  for (;;) {
    pollfd ends[2] = {{from.out(), POLLIN, 0}, {to.in(), POLLOUT, 0}};
    if (::poll(ends, sent < script.size() ? 2 : 1, -1) < 0) continue;
    if (sent < script.size() && ends[1].revents != 0) {
      const ssize_t n = ::write(to.in(), script.data() + sent, script.size() - sent);
      sent = n > 0 ? sent + static_cast<std::size_t>(n) : script.size();
      if (sent == script.size()) to.close_end(1);
    }
    if (ends[0].revents != 0) {
      const ssize_t n = ::read(from.out(), buffer, sizeof buffer);
      if (n <= 0) break;
      output.append(buffer, static_cast<std::size_t>(n));
    }
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (status != 0 || output.find("</svg>") == std::string::npos)
    throw std::runtime_error("gnuplot could not draw a plot");
  return output;
}

/// Inside double quotes of gnuplot's.
std::string quoted(const std::string& text) {
  std::string safe = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') safe += '\\';
    if (c != '\n') safe += c;
  }
  return safe + '"';
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

constexpr int colours = 10;

std::string script_of(const plot& p) {
  std::string s = "set terminal svg size 860,440 dynamic noenhanced font 'sans-serif,14'\n";
  s += fmt::format("set xlabel {}\nset ylabel {}\n", quoted(p.x), quoted(p.y));
  s += "set key outside right top\nset border 3\nset tics nomirror\nset grid lc rgb '#020000'\nset format '%g'\n";
  if (p.log_x) s += "set logscale x 2\n";
  if (p.log_y)
    s += "set logscale y\n";
  else
    s += "set yrange [0:*]\n";
  std::string plots;
  for (std::size_t i = 0; i < p.series.size(); ++i) {
    const plot_series& one = p.series[i];
    s += fmt::format("$s{} << EOD\n", i);
    for (const auto& [x, y] : one.points)
      if (std::isfinite(x) && std::isfinite(y) && (!p.log_y || y > 0)) s += fmt::format("{} {}\n", x, y);
    s += "EOD\n";
    const int colour = one.colour > 0 ? one.colour : static_cast<int>(i) % colours + 1;
    // Points differ in shape as well, so that no reader depends on colours.
    const std::string marks = fmt::format("pt {} ps 0.9", static_cast<int>(i) % colours + 4);
    const std::string with = one.drawn == plot_series::style::line     ? "lines dt 2 lw 1.5"
                             : one.drawn == plot_series::style::points ? "points " + marks
                                                                       : "linespoints lw 2 " + marks;
    plots += fmt::format("{}$s{} using 1:2 with {} lc rgb '#01{:02x}00' title {}", plots.empty() ? "" : ", ", i, with,
                         colour, quoted(one.name));
  }
  return s + "plot " + plots + "\n";
}

}  // namespace

bool can_draw() {
  try {
    return !gnuplot("set terminal svg\nplot 1\n").empty();
  } catch (const std::runtime_error&) {
    return false;
  }
}

std::string draw(const plot& p) {
  std::string svg = gnuplot(script_of(p));
  svg.erase(0, svg.find("</desc>") + 7);
  svg.erase(svg.find("</svg>") + 6);
  // Colours follow the page, also when it changes from light to dark.
  for (int i = 1; i <= colours; ++i)
    replace_all(svg, fmt::format("rgb(  1, {:3},   0)", i), fmt::format("var(--series-{})", i));
  replace_all(svg, "rgb(  2,   0,   0)", "var(--line)");
  for (const char* black : {"'black'", "\"black\""}) replace_all(svg, black, "\"var(--text)\"");
  if (const std::size_t ground = svg.find("<rect x=\"0\" y=\"0\""); ground != std::string::npos)
    svg.erase(ground, svg.find("/>", ground) + 2 - ground);
  // Ids are unique in a page, and there are several plots in it.
  replace_all(svg, " id='", " id='" + p.id + "-");
  replace_all(svg, " id=\"", " id=\"" + p.id + "-");
  replace_all(svg, "href='#", "href='#" + p.id + "-");
  return fmt::format(
      "<svg class=\"plot\" id=\"{0}\" viewBox=\"0 0 860 440\" role=\"img\" aria-labelledby=\"{0}-title {0}-says\" "
      "xmlns:xlink=\"http://www.w3.org/1999/xlink\">\n<title id=\"{0}-title\">{1}</title>\n<desc "
      "id=\"{0}-says\">{2}</desc>{3}\n",
      p.id, escaped(p.title), escaped(p.says), svg);
}

}  // namespace kgate::lab::report
