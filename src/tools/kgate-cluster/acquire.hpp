// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How commands come by slots between machines.

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kgate/cluster.hpp"
#include "tools/kgate-cluster/attendance.hpp"
#include "tools/kgate/tool.hpp"

namespace kgate::tool::cluster {

/// A slot of one gate, or several of it.
struct held_gate {
  std::unique_ptr<cluster_gate> gate;
  std::optional<cluster_gate::permit> permit;
  clock_type::duration waited{};
};

/// Opens a gate, or creates it if the options allow that. Throws gate_error.
std::unique_ptr<cluster_gate> open_gate(const request& options, const gate_request& wanted, const std::string& command);

/// Takes the slots of all gates in the order of their names, so that no two runs wait for each other: 0, or an exit
/// code. Others see `command`. Does not return if a signal ends the wait.
int acquire(const request& options, const std::string& command, std::vector<held_gate>& out);

}  // namespace kgate::tool::cluster
