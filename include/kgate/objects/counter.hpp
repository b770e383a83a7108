// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kgate/detail/cxx20.hpp"

/// A counter, as a sequential object.

#include <cstdint>
#include <utility>

namespace kgate {

struct counter {
  struct operation {
    std::int64_t add = 0;
  };
  /// What the counter was.
  using result = std::int64_t;

  static operation add(std::int64_t n) noexcept { return {n}; }
  static operation read() noexcept { return {0}; }
  static bool reads_only(const operation& op) noexcept { return op.add == 0; }

  result apply(const operation& op) noexcept {
    // As unsigned, so that it wraps.
    const auto next = static_cast<std::uint64_t>(value) + static_cast<std::uint64_t>(op.add);
    return std::exchange(value, static_cast<std::int64_t>(next));
  }

  std::int64_t value = 0;
};

}  // namespace kgate
