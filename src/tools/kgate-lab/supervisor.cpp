// SPDX-License-Identifier: Apache-2.0
#include "tools/kgate-lab/supervisor.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

namespace kgate::tool {

namespace {

int says_end_to = -1;           // in the child
volatile pid_t supervised = 0;  // in the parent

bool as_json = false;

constexpr std::array passed_on{SIGINT, SIGTERM, SIGHUP, SIGQUIT};

/// The terminal sends its signals to the child as well; what is sent to this process is passed on. One to the whole
/// group comes twice: catch_interrupts() knows.
void pass_on(int number, siginfo_t* from, void*) {
  if (from->si_code != SI_KERNEL) kill(supervised, number);
}

/// What the child has started and left behind, in whatever way.
void end_descendants() {
  for (;;) {
    std::ifstream children("/proc/thread-self/children");
    pid_t one = 0;
    bool any = false;
    while (children >> one) any = kill(one, SIGKILL) == 0 || any;
    if (!any) return;
    while (waitpid(-1, nullptr, 0) > 0) {
    }
  }
}

int say(const std::string& what, exit_code code) {
  say_error({what.c_str(), ": nothing is decided"});
  return static_cast<int>(code);
}

/// What has ended by a signal ends so here, too, for the process that started it.
int end_as(int number) {
  if (std::find(passed_on.begin(), passed_on.end(), number) == passed_on.end() && number != SIGPIPE)
    return say("the text ends the program by signal " + std::to_string(number), exit_code::undecided);
  signal(number, SIG_DFL);
  raise(number);
  return 128 + number;
}

}  // namespace

bool names_a_text(int argc, char** argv) {
  return std::any_of(argv + std::min(argc, 1), argv + argc,
                     [](const char* word) { return std::string_view(word).find(".hpp") != std::string_view::npos; });
}

std::optional<int> supervise() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  const pid_t parent = getpid();
  prctl(PR_SET_CHILD_SUBREAPER, 1);  // of what the child leaves behind
  const pid_t child = fork();
  if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (child == 0) {
    close(ends[0]);
    says_end_to = ends[1];
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(static_cast<int>(exit_code::failed));
    return std::nullopt;
  }
  close(ends[1]);
  supervised = child;
  struct sigaction action {};
  action.sa_sigaction = pass_on;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  for (const int number : passed_on) sigaction(number, &action, nullptr);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  end_descendants();
  char said = 0;
  const bool by_itself = read(ends[0], &said, 1) == 1;
  close(ends[0]);
  if (WIFSIGNALED(status)) return end_as(WTERMSIG(status));
  if (by_itself) return WEXITSTATUS(status);
  return say("the text ends the program, with exit code " + std::to_string(WEXITSTATUS(status)), exit_code::usage);
}

void errors_as_json() { as_json = true; }

void say_error(std::initializer_list<const char*> parts) {
  std::array<char, 2048> line;
  std::size_t used = 0;
  const auto put = [&](const char* text, bool escaped) {  // leaves room for an end
    for (; *text != '\0' && used + 40 < line.size(); ++text) {
      const auto c = static_cast<unsigned char>(*text);
      if (escaped && (c == '"' || c == '\\')) line[used++] = '\\';
      line[used++] = escaped && c < 0x20 ? ' ' : *text;
    }
  };
  const auto flush = [&](int to) {
    [[maybe_unused]] const ssize_t written = write(to, line.data(), used);
    used = 0;
  };
  put("kgate-lab: ", false);
  for (const char* part : parts) put(part, false);
  line[used++] = '\n';
  flush(STDERR_FILENO);
  if (!as_json) return;
  put("{\"error\": \"", false);
  for (const char* part : parts) put(part, true);
  for (const char end : {'"', '}', '\n'}) line[used++] = end;
  flush(STDOUT_FILENO);
}

void ends_by_itself() {
  if (says_end_to < 0) return;
  const char end = 'e';
  [[maybe_unused]] const ssize_t written = write(says_end_to, &end, 1);
}

void end_at_once(exit_code code) {
  ends_by_itself();
  syscall(SYS_exit_group, static_cast<int>(code));
  __builtin_unreachable();
}

}  // namespace kgate::tool
