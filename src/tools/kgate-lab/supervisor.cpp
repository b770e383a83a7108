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
#include <cstdio>
#include <string>
#include <string_view>
#include <system_error>

namespace kgate::tool {

namespace {

int says_end_to = -1;           // in the child
volatile pid_t supervised = 0;  // in the parent

constexpr std::array passed_on{SIGINT, SIGTERM, SIGHUP, SIGQUIT};

/// The terminal sends its signals to the child as well; what is sent to this process only is passed on.
void pass_on(int number, siginfo_t* from, void*) {
  if (from->si_code != SI_KERNEL) kill(supervised, number);
}

int say(const std::string& what, exit_code code) {
  std::fputs(("kgate-lab: " + what + ": nothing is decided\n").c_str(), stderr);
  return static_cast<int>(code);
}

/// What has ended by a signal ends so here, too, for whoever started it.
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
  char said = 0;
  const bool by_itself = read(ends[0], &said, 1) == 1;
  close(ends[0]);
  if (WIFSIGNALED(status)) return end_as(WTERMSIG(status));
  if (by_itself) return WEXITSTATUS(status);
  return say("the text ends the program, with exit code " + std::to_string(WEXITSTATUS(status)), exit_code::usage);
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
