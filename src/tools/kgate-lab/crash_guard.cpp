// SPDX-License-Identifier: Apache-2.0
#include "tools/kgate-lab/crash_guard.hpp"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>

#include "tools/kgate-lab/exit_code.hpp"
#include "tools/kgate-lab/supervisor.hpp"

namespace kgate::tool {

namespace {

constexpr std::array crashes{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

std::atomic<const lab::run_monitor*> guarded{nullptr};

/// Returns if no text is running.
void end_if_running(const char* what, exit_code code) {
  const lab::run_monitor* of = guarded.load();
  if (of == nullptr || of->begun.load() == of->ended.load()) return;
  const char* label = of->label.load();
  const char* part = of->part.load();
  const char* where = part != nullptr ? ", in its " : *label == '\0' ? ", before its first access" : ", after label ";
  say_error({"the text ", what, where, part != nullptr ? part : label, ": nothing is decided"});
  end_at_once(code);
}

void crashed(int signal_number) {
  end_if_running("crashes", exit_code::undecided);
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
  std::atexit([] { end_if_running("ends the program", exit_code::usage); });
}

}  // namespace

crash_guard::crash_guard(const lab::run_monitor& of) {
  static const bool installed = (install(), true);
  (void)installed;
  guarded = &of;
}

crash_guard::~crash_guard() { guarded = nullptr; }

}  // namespace kgate::tool

// What a text calls instead of exit(): the C library's own functions, found in this program first.
extern "C" void _exit(int code) {
  kgate::tool::end_if_running("ends the program", kgate::tool::exit_code::usage);
  syscall(SYS_exit_group, code);
  __builtin_unreachable();
}
extern "C" void _Exit(int code) { _exit(code); }
