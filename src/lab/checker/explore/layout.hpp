// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How a state is packed: the codes of the shared variables and the local states of the processes, each in as few bits
/// as the values met so far need, in as few 64-bit words as hold them.

#include <cstdint>
#include <vector>

namespace kgate::lab {

struct field {
  std::uint8_t word = 0;
  std::uint8_t shift = 0;
  std::uint64_t mask = 0;  ///< before shifting; 0: a field of no bits, always 0

  std::uint64_t get(const std::uint64_t* words) const { return (words[word] >> shift) & mask; }
  void set(std::uint64_t* words, std::uint64_t value) const {
    words[word] = (words[word] & ~(mask << shift)) | (value << shift);
  }
};

/// The bits each variable and each process has in a packed state.
struct widths {
  std::vector<unsigned> variable;
  std::vector<unsigned> local;
  unsigned extra = 0;  ///< bits an observer adds: cache contents, say
};

struct layout {
  std::vector<field> variable;
  std::vector<field> local;
  std::vector<field> extra;  ///< one bit each
  unsigned words = 1;

  explicit layout(const widths& w);
};

inline constexpr unsigned state_words_max = 8;

}  // namespace kgate::lab
