// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Which gate of this machine a lease lends through: another one can take its name.

#include <cstdint>

#include "kgate/gate.hpp"

namespace kgate::detail::cluster {

class local_gate {
 public:
  /// No other gate of its name has this number.
  static std::uint64_t id_of(gate& local);
  /// Whether one that opens its name now finds this one.
  static bool is_in_place(gate& local);
};

}  // namespace kgate::detail::cluster
