// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Which variables of the catalogue's algorithms hold tickets that grow for ever, and how far apart two tickets must be
/// for the rest not to matter.

#include <string_view>

#include "lab/checker/properties/shifted_search.hpp"

namespace kgate::lab {

/// Null if the algorithm has no tickets, or does more with them than compare them and take the next one.
const ticket_rule* ticket_rule_of(std::string_view id);

}  // namespace kgate::lab
