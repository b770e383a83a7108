// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What `kgate stats` prints of the histories of gates.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/kgate/history.hpp"

namespace kgate::tool {

struct gate_history {
  std::string name;
  int slots = 0;
  int inside = 0;
  std::size_t waiting = 0;
  bool paused = false;
  std::optional<std::uint64_t> healed;  ///< if the gate counts them
  history past;
};

/// Prints them as the options say.
void report_histories(const request& options, const std::vector<gate_history>& gates);

}  // namespace kgate::tool
