// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Bounded timestamps as plain arithmetic: labels of n-1 digits that a snapshot of all labels suffices to renew.
///
/// Source       Dolev & Shavit 1989, in the shape of Gawlick, Lynch & Shavit 1992, both cited by Afek et al. 1994,
///              section 3.1; neither text is at hand: the rule below is a reconstruction.
/// Promises     if each process renews its label from an atomic snapshot, writing it any time later:
///              L1  the labels present at any time are totally ordered by `before`
///              L2  a new label comes after all others of its snapshot
///              L3  renewing a label never moves a process before one it came after
/// Variables    a label is n-1 digits 1..5; 3 bits a digit, first digit highest, stored less 1; initially all digits 1
/// Invariants   L1-L3
/// Deviations   a reconstruction throughout
/// Memory model none
/// Evidence     tests/algorithms/afek94 (L1-L3 exhaustively for n = 2, 3, 4)

#include <cstdint>
#include <string>

#include "kgate/detail/contracts.hpp"

namespace kgate::afek94 {

/// The labels of up to 4 processes side by side, in 3(n-1) bits each.
using label_vector = std::uint64_t;

class labelling {
 public:
  /// So that a register of the snapshot (afek94_bounded_timestamps.hpp) fits 64 bits.
  static constexpr int processes_max = 4;

  explicit constexpr labelling(int n) : n_(n), bits_(3 * (n - 1)) {
    KGATE_EXPECTS(n >= 1 && n <= processes_max, "bounded timestamps are for at most 4 processes");
  }

  constexpr int processes() const { return n_; }
  constexpr int bits() const { return bits_; }
  constexpr std::uint64_t get(label_vector labels, int j) const { return (labels >> (bits_ * j)) & mask(); }
  constexpr label_vector set(label_vector labels, int j, std::uint64_t label) const {
    return (labels & ~(mask() << (bits_ * j))) | (label << (bits_ * j));
  }
  /// The bits of the labels of those in `set`, process j at bit j.
  constexpr label_vector label_masks(std::uint64_t set) const {
    label_vector bits = 0;
    for (int j = 0; j < n_; ++j)
      if ((set >> j & 1) != 0) bits |= mask() << (bits_ * j);
    return bits;
  }
  /// Digit h = 1..n-1 of a label, as 1..5.
  constexpr int digit(std::uint64_t label, int h) const { return static_cast<int>((label >> shift(h)) & 7) + 1; }

  /// Process i with label a comes before process j with label b.
  constexpr bool before(std::uint64_t a, int i, std::uint64_t b, int j) const {
    for (int h = 1; h < n_; ++h)
      if (digit(a, h) != digit(b, h)) return less(digit(a, h), digit(b, h));
    return i < j;
  }
  /// The process that all others come before.
  constexpr int last(label_vector labels) const {
    int m = 0;
    for (int j = 1; j < n_; ++j)
      if (before(get(labels, m), m, get(labels, j), j)) m = j;
    return m;
  }
  /// A label for i that comes after all of the snapshot: as long as fewer than n-h others agree with the last one's
  /// first h digits there is room at digit h for those that may still write.
  constexpr std::uint64_t next(label_vector labels, int i) const {
    const std::uint64_t m = get(labels, last(labels));
    int h = 1;
    while (agreeing(labels, m, h, i) < n_ - h) ++h;
    const std::uint64_t kept = m >> (shift(h) + 3) << (shift(h) + 3);
    return kept | (static_cast<std::uint64_t>(successor(digit(m, h)) - 1) << shift(h));
  }

  std::string text(std::uint64_t label) const {
    std::string digits;
    for (int h = 1; h < n_; ++h) digits += static_cast<char>('0' + digit(label, h));
    return digits;
  }

 private:
  constexpr std::uint64_t mask() const { return (std::uint64_t{1} << bits_) - 1; }
  constexpr int shift(int h) const { return bits_ - 3 * h; }

  /// 1 < 2 < {3,4,5}, and 3 < 4 < 5 < 3.
  static constexpr bool less(int a, int b) {
    if (a < 3 || b < 3) return a < b;
    return successor(a) == b;
  }
  static constexpr int successor(int digit) { return digit == 5 ? 3 : digit + 1; }

  constexpr int agreeing(label_vector labels, std::uint64_t m, int h, int i) const {
    int count = 0;
    for (int j = 0; j < n_; ++j)
      if (j != i && get(labels, j) >> shift(h) == m >> shift(h)) ++count;
    return count;
  }

  int n_;
  int bits_;
};

}  // namespace kgate::afek94
