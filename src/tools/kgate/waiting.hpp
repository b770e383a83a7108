// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How the tool comes by slots: opens gates, joins them, and waits with a line on the terminal.

#include <optional>
#include <string>
#include <vector>

#include "tools/kgate/tool.hpp"

namespace kgate::tool {

/// What stands for a command's process for a token of a jobserver.
inline constexpr int token_offered = -1, token_in_use = -2;
/// How long it takes a jobserver to give back a token that is offered in vain, if a process waits at the gate.
inline constexpr std::int64_t offer_ns_max = 100'000'000;

/// The process of a participant's command; 0 if there is none.
inline int command_of(const detail::gates::participant& who) {
  return who.command_process > 0 ? who.command_process : 0;
}

/// A slot of one gate, or several of it.
struct held_slot {
  gate_request wanted;
  std::string path;  ///< of the gate
  detail::gates::core gate;
  detail::gates::membership member;
  int lock_fd = -1;  ///< of the gate's .run file, for the lock of a command
  std::vector<int> slots;
  int gate_slots = 0;  ///< the size of the gate
  std::uint64_t token = 0;
  std::uint64_t waited_ns = 0;
  std::uint64_t entered_ns = 0;  ///< on the monotonic clock
  std::uint64_t left_ns = 0;

  /// "0", or "0,1,2"
  std::string slot_list() const;
  void leave();
};

/// What others see of a command: its name, or with --show-arguments the whole line.
std::string shown_command(const request& options);

/// Opens the gate as the options say, creating it if they allow that: 0, or an exit code and why has been said.
int open_gate(const request& options, const gate_request& wanted, detail::gates::core& gate, bool for_command = false);

/// Opens or creates the gate with the size that is asked for, which replaces one that was not asked for.
gate_failure open_with_size(const gate_request& wanted, const detail::gates::location& where,
                            detail::gates::core& gate);

/// A gate that exists keeps what it was created with: says which of the options change nothing.
void compare_with_options(const request& options, const gate_request& wanted, detail::gates::core& gate);

/// The local gate of a lease is gone: the caller says what that means.
inline constexpr int lease_gone = -1;

/// Takes the slots of all gates that were named, in the order of their names, or none: then an exit code. `out` has
/// them in the order in which they were named. Does not return if a signal ends the wait.
std::optional<int> acquire_slots(const request& options, std::vector<held_slot>& out);

/// Locks or unlocks (F_RDLCK, F_UNLCK) the byte of a member's command through a descriptor of the gate's .run file, for
/// as long as that opening of the file lives.
bool lock_command_byte(int fd, short type, unsigned member);

/// The exit code for a slot that could not be had, as the options want it.
int refusal_code(const request& options);

/// Stops this process, unless it has been continued since it was to stop; SIGCONT is blocked. From a signal handler,
/// too.
void stop_unless_continued();

/// Ends this process by a signal, as a command did that was ended by it.
[[noreturn]] void die_of(int signal_number);

}  // namespace kgate::tool
