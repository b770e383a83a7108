// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <stdexcept>

namespace kgate::tool {

/// From now on the first SIGINT or SIGTERM sets the flag that is returned; the second ends the program at once, as it
/// would have without this.
const std::atomic<bool>& catch_interrupts();

/// Before there was anything that could be said.
struct interrupted_early : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace kgate::tool
