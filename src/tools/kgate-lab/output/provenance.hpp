// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Where a result comes from, for whoever wants to publish or repeat it.

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "lab/checker/explore/explorer.hpp"

namespace kgate::tool {

/// Version, commit (null if the program was not built from a clone) and machine.
nlohmann::json provenance();

/// "kgate-lab 1.2.0 (0123456789ab), seed 1, 2 threads, at most 8.0 GB and 30 s; gcc 12, processor".
std::string provenance_text(const lab::run_limits& limits, std::uint64_t seed);

/// The commit the program was built from, or "unknown".
std::string commit_text();

}  // namespace kgate::tool
