// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The packed word of ticket_queue.hpp and bounded_barging.hpp.

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace kgate {

/// How W is packed: E, the tickets admitted, to the left, and C, bias less the free permits, to the right. Tickets fill
/// the word, so that they wrap by themselves. Between them there may be names, a bit for each that is free.
template <class Word = std::uint64_t, int CountBits = 32, int NameBits = 0>
struct ticket_word {
  using word = Word;
  static constexpr int names_max = NameBits;
  static constexpr int right_bits = CountBits + NameBits;
  static constexpr int ticket_bits = std::numeric_limits<word>::digits - right_bits;

  static constexpr word one_ticket = static_cast<word>(word{1} << right_bits);
  static constexpr word count_mask = static_cast<word>((word{1} << CountBits) - 1);
  static constexpr word bias = static_cast<word>(word{1} << (CountBits - 1));
  static constexpr word ticket_mask = static_cast<word>(static_cast<word>(~word{0}) >> right_bits);
  /// The most permits, and the most tickets queued.
  static constexpr word permits_max = static_cast<word>(bias - 1);

  static constexpr word wrapped(word t) { return static_cast<word>(t & ticket_mask); }
  static constexpr word E(word v) { return static_cast<word>(v >> right_bits); }
  static constexpr word C(word v) { return static_cast<word>(v & count_mask); }
  static constexpr word next_ticket(word v) { return wrapped(static_cast<word>(E(v) + C(v) - bias)); }
  static constexpr word make(word first, word k, int names = 0) {
    return static_cast<word>(static_cast<word>(first << right_bits) | static_cast<word>(name_bit(names) - name_bit(0)) |
                             static_cast<word>(bias - k));
  }
  static constexpr word name_bit(int name) { return static_cast<word>(word{1} << (CountBits + name)); }
  /// v without the lowest free name; there must be one. What is subtracted borrows from that name alone.
  static constexpr word without_lowest_name(word v) {
    return static_cast<word>(v & static_cast<word>(v - name_bit(0)));
  }
  /// The bit of the lowest free name; there must be one.
  static constexpr word lowest_name(word v) { return static_cast<word>(v ^ without_lowest_name(v)); }
  static constexpr int name_of(word bit) { return std::countr_zero(bit) - CountBits; }
  /// What to add to W to hand back n permits: n more tickets admitted, n fewer outstanding.
  static constexpr word handing_back(word n) { return static_cast<word>(n * static_cast<word>(one_ticket - 1)); }
  /// How many tickets wait.
  static constexpr word queued(word v) { return C(v) > bias ? static_cast<word>(C(v) - bias) : word{0}; }
  static constexpr word free(word v) { return C(v) < bias ? static_cast<word>(bias - C(v)) : word{0}; }
  /// Whether w permits are free: C + w <= bias, asked of one bit.
  static constexpr bool had_free(word v, word w) { return ((v + w - 1) & bias) == 0; }
  /// The count while one of k permits is out and none is queued: what a release compares with, and another way to
  /// say k.
  static constexpr word one_out(word k) { return static_cast<word>(bias + 1 - k); }
  static constexpr word permits_of(word count_of_one_out) { return static_cast<word>(bias + 1 - count_of_one_out); }
  /// Whether w permits are out and none is queued.
  static constexpr bool had_out(word v, word count_of_one_out, word w) {
    using count = std::conditional_t<CountBits == 32, std::uint32_t, word>;  // so that nothing need be masked
    return static_cast<count>(v & static_cast<word>(count_mask)) == static_cast<count>(count_of_one_out + (w - 1));
  }
  /// How many tickets are to be admitted before t is.
  static constexpr word ahead(word v, word t) { return wrapped(static_cast<word>(t - E(v))); }
  static constexpr bool waits(word v, word t) { return ahead(v, t) < queued(v); }
  /// Whether every ticket below t is admitted.
  static constexpr bool at_front(word v, word t) { return t == E(v) || !waits(v, t); }
  /// Whether t was drawn before u, if fewer than half of all tickets lie between them.
  static constexpr bool before(word t, word u) {
    return wrapped(static_cast<word>(t - u)) > static_cast<word>(ticket_mask / 2);
  }
};

}  // namespace kgate
