// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Which variables of the catalogue's algorithms hold tickets that grow for ever, and how far apart two tickets must be
/// for the rest not to matter.

#include <optional>
#include <string_view>

#include "lab/checker/properties/shifted_search.hpp"

namespace kgate::lab {

/// None if the algorithm has no tickets, or does more with them than compare them, take the next and choose entries.
std::optional<ticket_rule> ticket_rule_of(std::string_view id, int N, int k);

}  // namespace kgate::lab
