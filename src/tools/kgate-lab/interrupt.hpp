// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

namespace kgate::tool {

/// From now on the first SIGINT or SIGTERM sets the flag that is returned; the second ends the program at once, as it
/// would have without this.
const std::atomic<bool>& catch_interrupts();

}  // namespace kgate::tool
