// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Waits of passages that the history does not have yet. A kgate that becomes its command has only the time it takes
/// from it, and writing to a file is a large part of that: so it leaves its wait in its member's line of the gate's
/// file, which is mapped, and every fourteenth adds them all to the history.

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "gate/layout.hpp"

namespace kgate::tool {

/// A time of 0 to 2^42 microseconds in 16 bits, to a thousandth.
inline std::uint16_t shortened(std::uint64_t us) {
  constexpr int digits = 11;
  us = std::min(us, ((std::uint64_t{1} << digits) - 1) << 31);
  const int zeros = std::max(static_cast<int>(std::bit_width(us)) - digits, 0);
  return static_cast<std::uint16_t>(zeros << digits | static_cast<int>(us >> zeros));
}
inline std::uint64_t lengthened(std::uint16_t bits) { return std::uint64_t{bits & 0x7FFU} << (bits >> 11); }

/// Only the member whose line it is adds and takes; any process may read.
class unrecorded_waits {
 public:
  explicit unrecorded_waits(decltype(detail::gates::member_line::unrecorded)& line) : line_(line) {}

  /// False if there is no room left.
  bool add(std::uint64_t us) {
    const std::size_t count = line_[0].load(std::memory_order_relaxed);
    if (count >= line_.size() - 1) return false;
    line_[count + 1].store(shortened(us), std::memory_order_relaxed);
    line_[0].store(static_cast<std::uint16_t>(count + 1), std::memory_order_release);  // partner: read()
    return true;
  }
  /// False if they are being added to the history just now.
  bool read(std::vector<std::uint64_t>& out) const {
    const std::uint16_t count = line_[0].load(std::memory_order_acquire);
    if (count == taken) return false;
    for (std::size_t i = 1; i <= std::min<std::size_t>(count, line_.size() - 1); ++i)
      out.push_back(lengthened(line_[i].load(std::memory_order_relaxed)));
    return true;
  }
  /// They are counted neither here nor there until they are forgotten here.
  std::vector<std::uint64_t> take() {
    std::vector<std::uint64_t> all;
    read(all);
    if (!all.empty()) line_[0].store(taken);
    return all;
  }
  void forget() { line_[0].store(0); }

 private:
  static constexpr std::uint16_t taken = 0xFFFF;

  decltype(detail::gates::member_line::unrecorded)& line_;
};

}  // namespace kgate::tool
