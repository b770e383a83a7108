// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kgate/detail/cxx20.hpp"

namespace kgate {

/// Whether an object of this type may be made in memory that several processes map, wherever each maps it, and be used
/// by all of them: it holds no pointers and sleeps on words that all see. What the state of a user's own object means
/// is up to the user.
template <class Object>
inline constexpr bool usable_between_processes = false;

}  // namespace kgate
