// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kgate/detail/cxx20.hpp"

/// The version of these headers. The library of gates reports its own through the package that it is found by.

#define KGATE_VERSION_MAJOR 1
#define KGATE_VERSION_MINOR 0
#define KGATE_VERSION_PATCH 0

namespace kgate {

/// Major, minor and patch as one number that grows with the version.
inline constexpr int version_number = KGATE_VERSION_MAJOR * 10000 + KGATE_VERSION_MINOR * 100 + KGATE_VERSION_PATCH;

}  // namespace kgate
