// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace kgate {

/// Two numbers that must be equal. @tparam Between  called after an operation has changed the first
template <class Between>
struct halves_of {
  struct operation {
    std::int64_t add;
  };
  using result = std::int64_t;  // what they were, or -1 if they differed
  result apply(const operation& op) noexcept {
    const result was = left == right ? left : -1;
    left += op.add;
    Between()();
    right += op.add;
    return was;
  }
  std::int64_t left = 0;
  std::int64_t right = 0;
};

}  // namespace kgate
