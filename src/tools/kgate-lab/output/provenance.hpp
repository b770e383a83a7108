// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Where a result comes from, for users who want to publish or repeat it.

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "lab/checker/explore/explorer.hpp"
#include "lab/checker/trace/trace.hpp"

namespace kgate::tool {

/// Version, commit (null if the program was not built from a clone) and machine.
nlohmann::json provenance();

/// None if nothing was random.
using seed_used = std::optional<std::uint64_t>;

/// Threads are left out if there are 0: "kgate-lab 1.2.0 (0123456789ab), seed 1, 2 threads, at most 8.0 GB and 30 s;
/// gcc 12, processor".
std::string provenance_text(const lab::run_limits& limits, seed_used seed);

/// The same behind "by", as the last lines of a result.
std::string made_by_text(const lab::run_limits& limits, seed_used seed);

/// Into a result: made_by, seed, threads, memory_max and time_max, 0 for no limit.
void add_provenance(nlohmann::json& result, const lab::run_limits& limits, seed_used seed);

/// A counterexample as it is written into a file, with where it comes from.
nlohmann::json trace_json(const lab::trace& t, lab::program& p, const lab::run_limits& limits, seed_used seed);

/// The commit the program was built from, or "unknown".
std::string commit_text();

}  // namespace kgate::tool
