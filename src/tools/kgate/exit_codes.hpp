// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace kgate::tool {

/// The exit codes of kgate, all of them; documented in kgate(1) from the table beside them (spec.cpp). `run` passes on
/// the code of its command, so its own are where commands rarely are.
enum exit_code : int {
  exit_ok = 0,
  exit_failed = 1,   ///< status, list, resize, remove, doctor: it could not be done, or something is wrong
  exit_usage = 120,  ///< the command line was not understood
  exit_lost =
      121,  ///< run: the gate was removed, damaged or too small, or the slot lost, before the command could start
  exit_refused = 122,     ///< run --try: no slot was free
  exit_timed_out = 124,   ///< run --timeout: no slot became free in time
  exit_error = 125,       ///< run: kgate itself failed, and the command was not started
  exit_cannot_run = 126,  ///< run: the command was found but could not be started
  exit_not_found = 127,   ///< run: there is no such command
  exit_signal = 128       ///< run: plus n, the command was ended by signal n
};

}  // namespace kgate::tool
