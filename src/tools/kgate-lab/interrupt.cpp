// SPDX-License-Identifier: Apache-2.0
#include "tools/kgate-lab/interrupt.hpp"

#include <signal.h>

namespace kgate::tool {

namespace {

std::atomic<bool> interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free, "signal handlers may use lock-free atomics only");

void on_signal(int signal) {
  if (!interrupted.exchange(true)) return;
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

}  // namespace

const std::atomic<bool>& catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  return interrupted;
}

}  // namespace kgate::tool
