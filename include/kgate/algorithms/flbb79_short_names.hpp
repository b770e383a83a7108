// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Short names for few numbers: a map that tells the members of a small set apart by some of their bits.
///
/// Source       Fischer, Lynch, Burns & Borodin 1979, proof of lemma 4.5.
/// Promises     members of the set have different short names 1..m; the map takes (m-1) bit positions and m patterns,
///              so O(log N ^ (m-1)) values
/// Variables    position[j]  a bit of the number;  pattern[r]  those bits of the member with short name r+1
/// Invariants   m members differ in at most m-1 positions taken one by one
/// Deviations   none
/// Memory model none
/// Evidence     tests/algorithms/flbb79

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "kgate/detail/contracts.hpp"

namespace kgate::flbb79 {

class name_map {
 public:
  static constexpr int members_max = 3;

  name_map() = default;
  /// The map for these numbers, which differ; numbers[r] gets the short name r+1.
  template <std::size_t Size>
  static name_map of(const std::array<std::uint8_t, Size>& numbers, int members) {
    KGATE_EXPECTS(members <= std::min(members_max, static_cast<int>(Size)),
                  "a map of short names has at most 3 members");
    name_map map;
    for (int r = 0; r < members; ++r) {
      const int number = numbers[static_cast<std::size_t>(r)];
      // If one before it agrees with it so far, a position in which the two differ tells them apart.
      for (int q = 0; q < r; ++q) {
        const int other = numbers[static_cast<std::size_t>(q)];
        if (map.bits_of(other) != map.bits_of(number)) continue;
        int bit = 0;
        while (((number ^ other) >> bit & 1) == 0) ++bit;
        map.position_[map.positions_++] = static_cast<std::uint8_t>(bit);
      }
    }
    for (int r = 0; r < members; ++r) map.pattern_[map.members_++] = map.bits_of(numbers[static_cast<std::size_t>(r)]);
    return map;
  }

  bool defined() const { return members_ > 0; }
  /// 1 for a number that is like none of the members.
  int short_of(int number) const {
    for (std::size_t r = 0; r < members_; ++r)
      if (pattern_[r] == bits_of(number)) return static_cast<int>(r) + 1;
    return 1;
  }
  friend constexpr bool operator==(const name_map&, const name_map&) = default;

 private:
  std::uint8_t bits_of(int number) const {
    int bits = 0;
    for (std::size_t j = 0; j < positions_; ++j) bits |= (number >> position_[j] & 1) << j;
    return static_cast<std::uint8_t>(bits);
  }

  std::uint8_t members_ = 0;
  std::uint8_t positions_ = 0;
  std::array<std::uint8_t, members_max - 1> position_{};
  std::array<std::uint8_t, members_max> pattern_{};
};

}  // namespace kgate::flbb79
