// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace kgate::tool {

/// The bytes of memory this process may use: what the machine has, or the limit of its control group if that is less.
std::uint64_t system_memory();

}  // namespace kgate::tool
