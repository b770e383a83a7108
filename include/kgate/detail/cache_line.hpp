// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace kgate::detail {

/// The unit in which memory moves between cores. A constant rather than the standard library's interference size,
/// whose value may change with compiler flags and so would not be safe in a header that fixes layouts.
inline constexpr std::size_t cache_line = 64;

}  // namespace kgate::detail
