// SPDX-License-Identifier: Apache-2.0
#include "tools/kgate-lab/interrupt.hpp"

#include <signal.h>
#include <unistd.h>

namespace kgate::tool {

namespace {

std::atomic<bool> interrupted = false;
std::atomic<int> sent = 0, passed_on = 0;
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free,
              "signal handlers may use lock-free atomics only");

/// What is sent to the process group comes twice where there is a supervisor: from the sender, and passed on.
void on_signal(int signal, siginfo_t* from, void*) {
  std::atomic<int>& way = from->si_code == SI_USER && from->si_pid == getppid() ? passed_on : sent;
  interrupted = true;
  if (++way < 2) return;
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

}  // namespace

const std::atomic<bool>& catch_interrupts() {
  struct sigaction action {};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  return interrupted;
}

}  // namespace kgate::tool
