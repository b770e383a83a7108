// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace kgate::tool {

/// The exit codes of kgate, all of them; documented in kgate(1) from the table (table.cpp). `run` passes on the code of
/// its command, so its own are where commands rarely are.
enum exit_code : int {
  exit_ok = 0,
  exit_failed = 1,          ///< all but run, hold and jobserver: it could not be done, or something is wrong
  exit_session_lost = 119,  ///< --on: the session was lost while the command ran, and with it the slot
  exit_usage = 120,         ///< the command line was not understood
  exit_lost = 121,          ///< the gate was removed, damaged or too small, the waiter cancelled, or the slot lost
  exit_refused = 122,       ///< --try: no slot was free
  exit_time_limit = 123,    ///< run --time-limit: the command ran too long
  exit_timed_out = 124,     ///< --timeout: no slot became free in time; wait, drain: it took longer
  exit_error = 125,         ///< kgate itself failed, and the command was not started
  exit_cannot_run = 126,    ///< the command was found but could not be started
  exit_not_found = 127,     ///< there is no such command
  exit_signal = 128         ///< plus n: the command was ended by signal n
};

}  // namespace kgate::tool
