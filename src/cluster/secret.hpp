// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace kgate::detail::cluster {

/// "user:password" for digest authentication: `given`, or $KGATE_ZK_AUTH, or the first line of $KGATE_ZK_AUTH_FILE,
/// which no other user may be able to read; empty if there is none of them. Throws gate_error.
std::string find_secret(const std::string& given);

}  // namespace kgate::detail::cluster
