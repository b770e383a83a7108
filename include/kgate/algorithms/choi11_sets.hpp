// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Choi's wait sets and release sets: which slots of a block a waiter watches, and which ones a leaver writes, so that
/// for w <= r one of the O(log k) slots that the leaver for r writes is among the O(log k) slots that w watches.
///
/// Source       Choi 2011, section 2.4. In patterns of ceil(log2 k) bits,
///                Wait-Set(j)    = {b in j..k-1 : b = a prefix of j, then 1, then zeros} + {k-1} + {j}
///                Release-Set(j) = {a prefix of j, then zeros}
/// Promises     P1..P6 of section 3.1
/// Deviations   D1  Wait-Set(j) contains j. As printed 0 is not in Wait-Set(0), and P4 fails at i = j = 0.
///              D2  the length is ceil(log2 k). As printed it is one less, and k-1 has no pattern.
///              Both can be switched back (set_reading), for study.
/// Evidence     tests/algorithms/choi11 (P1..P6 for all k to 128)

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>

namespace kgate::choi11 {

/// How section 2.4 is read; the default is the reading that works.
struct set_reading {
  bool waits_on_own_slot = true;  ///< D1
  bool full_length = true;        ///< D2
};

/// Slots of one block in ascending order, each once.
class slot_set {
 public:
  void add(int slot) {
    auto* const at = std::lower_bound(slots_.data(), slots_.data() + size_, slot);
    if (at != slots_.data() + size_ && *at == slot) return;
    std::move_backward(at, slots_.data() + size_, slots_.data() + size_ + 1);
    *at = slot;
    ++size_;
  }
  const int* begin() const { return slots_.data(); }
  const int* end() const { return slots_.data() + size_; }
  std::size_t size() const { return size_; }
  int operator[](std::size_t at) const { return slots_[at]; }
  bool contains(int slot) const { return std::binary_search(begin(), end(), slot); }

 private:
  /// One slot for each proper prefix of up to 31 bits, k-1 and j.
  std::array<int, 34> slots_{};
  std::size_t size_ = 0;
};

/// ceil(log2 k): the bits that 0..k-1 need.
constexpr int pattern_length(int k) { return static_cast<int>(std::bit_width(static_cast<unsigned>(k - 1))); }

namespace detail {
constexpr int length(int k, set_reading reading) {
  return reading.full_length ? pattern_length(k) : std::max(0, pattern_length(k) - 1);
}
/// The pattern of j: its last `length` bits.
constexpr int pattern(int j, int length) { return j & ((1 << length) - 1); }
/// The first bits of a pattern, followed by `zeros` zeros.
constexpr int prefix(int pattern, int zeros) { return pattern >> zeros << zeros; }
}  // namespace detail

inline slot_set wait_set(int j, int k, set_reading reading = {}) {
  slot_set set;
  const int length = detail::length(k, reading);
  for (int bit = 0; bit < length; ++bit) {
    const int b = detail::prefix(detail::pattern(j, length), bit + 1) | 1 << bit;
    if (j <= b && b <= k - 1) set.add(b);
  }
  set.add(k - 1);
  if (reading.waits_on_own_slot) set.add(j);
  return set;
}

inline slot_set release_set(int j, int k, set_reading reading = {}) {
  slot_set set;
  const int length = detail::length(k, reading);
  for (int zeros = 0; zeros <= length; ++zeros) set.add(detail::prefix(detail::pattern(j, length), zeros));
  return set;
}

}  // namespace kgate::choi11
