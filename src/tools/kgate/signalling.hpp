// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Signals to participants of a gate. What a gate's file says of its participants is written by any user who may write
/// to it, and process numbers of other PID namespaces mean something else here: so the kernel is asked.

#include <string>

#include "tools/kgate/tool.hpp"

namespace kgate::tool {

/// Sends a signal to the command of a participant, or to the participant itself if it has none; empty, or why it was
/// not sent. Only to a process that is in the PID namespace of this one, belongs to the participant's user, and holds
/// its lock at the gate; only for that user and root.
std::string send_signal(detail::gates::core& gate, const detail::gates::participant& who, int number);

}  // namespace kgate::tool
