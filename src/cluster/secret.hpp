// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace kgate::detail::cluster {

/// "user:password" for digest authentication: `given`, or $KGATE_ZK_AUTH, or the first line of $KGATE_ZK_AUTH_FILE,
/// which no other user may be able to read; empty if there is none of them. The line may end as on Windows. Throws
/// gate_error, also if a variable is set and empty.
std::string find_secret(const std::string& given);

}  // namespace kgate::detail::cluster
