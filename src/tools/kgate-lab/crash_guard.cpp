// SPDX-License-Identifier: Apache-2.0
#include "tools/kgate-lab/crash_guard.hpp"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>

#include "tools/kgate-lab/exit_code.hpp"

namespace kgate::tool {

namespace {

constexpr std::array crashes{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

std::atomic<const lab::run_monitor*> guarded{nullptr};

/// Only what a signal handler may do.
void say(const char* text) { [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text, std::strlen(text)); }

/// Returns if no text is running.
void end_if_running(const char* what) {
  const lab::run_monitor* of = guarded.load();
  if (of == nullptr || of->begun.load() == of->ended.load()) return;
  const char* label = of->label.load();
  say("kgate-lab: the text ");
  say(what);
  say(*label == '\0' ? ", before its first access" : ", after label ");
  say(label);
  say(": nothing is decided\n");
  _exit(static_cast<int>(exit_code::undecided));
}

void crashed(int signal_number) {
  end_if_running("crashes");
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

/// Once: an endless recursion leaves no room on the stack it has used up.
void install() {
  static std::array<char, 64 << 10> room;
  stack_t other{};
  other.ss_sp = room.data();
  other.ss_size = room.size();
  sigaltstack(&other, nullptr);
  struct sigaction action {};
  action.sa_handler = crashed;
  action.sa_flags = SA_ONSTACK;
  for (const int one : crashes) sigaction(one, &action, nullptr);
  std::atexit([] { end_if_running("ends the program"); });
}

}  // namespace

crash_guard::crash_guard(const lab::run_monitor& of) {
  static const bool installed = (install(), true);
  (void)installed;
  guarded = &of;
}

crash_guard::~crash_guard() { guarded = nullptr; }

}  // namespace kgate::tool
