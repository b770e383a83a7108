// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A renaming of at most eight processes, four bits each.

#include <cstdint>

namespace kgate::lab {

class permutation {
 public:
  constexpr permutation() = default;  ///< every process keeps its number
  static constexpr permutation of_bits(std::uint32_t bits) {
    permutation p;
    p.bits_ = bits;
    return p;
  }

  constexpr int operator()(int i) const { return static_cast<int>(bits_ >> (4 * i) & 15); }
  constexpr void set(int i, int image) {
    bits_ = (bits_ & ~(std::uint32_t{15} << (4 * i))) | static_cast<std::uint32_t>(image) << (4 * i);
  }
  constexpr std::uint32_t bits() const { return bits_; }
  constexpr bool operator==(const permutation&) const = default;

  constexpr permutation inverse() const {
    permutation p;
    for (int i = 0; i < 8; ++i) p.set((*this)(i), i);
    return p;
  }
  /// First `inner`, then this.
  constexpr permutation after(const permutation& inner) const {
    permutation p;
    for (int i = 0; i < 8; ++i) p.set(i, (*this)(inner(i)));
    return p;
  }
  /// A set of processes, one bit each, renamed.
  constexpr std::uint32_t of_set(std::uint32_t s) const {
    std::uint32_t renamed = 0;
    for (int i = 0; s != 0; ++i, s >>= 1)
      if ((s & 1) != 0) renamed |= std::uint32_t{1} << (*this)(i);
    return renamed;
  }

 private:
  std::uint32_t bits_ = 0x76543210;
};

}  // namespace kgate::lab
