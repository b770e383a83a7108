// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How a command is started in its slots, and attended to until it has ended.

#include <signal.h>
#include <sys/types.h>

#include <string>
#include <vector>

#include "tools/kgate/group_witness.hpp"
#include "tools/kgate/waiting.hpp"

namespace kgate::tool {

/// The strings of a command, with its slots put in.
class prepared_command {
 public:
  /// `settings` are further lines of the environment, NAME=VALUE.
  prepared_command(const std::vector<char*>& words, const std::vector<held_slot>& slots,
                   const std::vector<std::string>& settings = {});
  prepared_command(const prepared_command&) = delete;
  prepared_command& operator=(const prepared_command&) = delete;

  char* const* arguments() { return arguments_.data(); }
  char* const* environment() { return environment_.data(); }
  const char* name() const { return arguments_.front(); }

 private:
  std::vector<std::string> texts_, settings_;
  std::vector<char*> arguments_, environment_;
};

/// Signals that this process waits for while a command runs: all that can be blocked but SIGBUS, which has a handler
/// (expect_truncation), and SIGTTIN and SIGTTOU, by which a terminal stops this process itself. Made before the command
/// is started, which gets the mask and the action for SIGCHLD that were there before.
class signal_watch {
 public:
  signal_watch();
  signal_watch(const signal_watch&) = delete;
  signal_watch& operator=(const signal_watch&) = delete;
  const sigset_t& watched() const { return watched_; }
  /// What the command begins with.
  void restore() const;

 private:
  sigset_t watched_{}, before_{};
  struct sigaction child_before_ {};
};

/// A command that was started, or why it was not.
struct started {
  pid_t process = -1;
  int error = 0;      ///< of execve
  bool lost = false;  ///< the slots were lost before it could start
};

/// Starts the command in a process of its own, which keeps the slots as long as it lives. One that is mortal is
/// killed if this process dies.
started start(prepared_command& command, std::vector<held_slot>& slots, const signal_watch& signals,
              bool mortal = false);
/// Becomes the command, which keeps the slots as long as it lives. Returns only if that fails.
started become(prepared_command& command, std::vector<held_slot>& slots);

/// Says why a command could not be started; the exit code.
int failed_start(const started& how, const prepared_command& command, const request& options);

/// Passes a signal that came on to the command, unless it has it already; and stops with it. True, and its wait status,
/// if it was SIGCHLD and the command has ended.
bool handle_signal(const siginfo_t& signal, pid_t command, group_witness& witness, int& ended);

/// The exit code of a wait status; does not return if the command died of a signal.
int pass_on(int ended);

}  // namespace kgate::tool
