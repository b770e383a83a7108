// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What commands of this host did at gates between machines, beside the gates of this host (tools/kgate/history.hpp).

#include <string>

#include "tools/kgate-cluster/acquire.hpp"
#include "tools/kgate/history.hpp"

namespace kgate::tool::cluster {

void record_passages_at(const request& options, const std::vector<held_gate>& held, clock_type::duration stayed);
void record_refusals_at(const request& options);
/// Removes what this host and user have recorded of a gate.
void forget_history(const request& options, const std::string& gate);
/// The file of a gate's history on this host.
std::string history_path(const request& options, const std::string& gate);

}  // namespace kgate::tool::cluster
