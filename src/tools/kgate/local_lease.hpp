// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Gates of this machine through which `kgate lease` lends slots of a gate between machines. Beside such a gate NAME is
/// `.NAME.lease`, whose first byte the lessor has locked as long as it lives (cluster/lease_file.hpp).

#include <string>

namespace kgate::tool {

enum class lease_state : unsigned char { none, lives, over };

/// What the gate's lease is doing.
lease_state lease_through(const std::string& directory, const std::string& name);
/// Whether a lessor lends through the gate, which others then leave as it is: this has been said.
bool is_lent_through(const std::string& directory, const std::string& name);

/// Removes what leases left that are over, with their gates if they are empty, and files of `kgate hold` that keep
/// nothing. How many files.
int sweep_leases(const std::string& directory);

}  // namespace kgate::tool
