// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kgate/detail/cxx20.hpp"

/// kgate::stop_token and kgate::stop_callback: those of std, or where the standard library has none, types of which no
/// stop can be requested.

#include "kgate/detail/stop_token.hpp"

namespace kgate {

using detail::stop_callback;
using detail::stop_token;

}  // namespace kgate
