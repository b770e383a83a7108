// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kgate/detail/cxx20.hpp"

/// What the texts of this room have in common: the word that says which version of an object is current, where the
/// words of a version lie, and a version copied.

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "kgate/detail/cache_line.hpp"
#include "kgate/objects/kept_version.hpp"
#include "kgate/objects/sequential.hpp"

namespace kgate {

/// K: given with the constructor.
inline constexpr int at_runtime = 0;

/// Which names may be inside the object: present(p, i) is the i-th word of a set of names, 64 to a word. A name's bit
/// must be set before its process announces an operation and until it has its result. This one takes all for present.
struct everybody {
  template <class Process>
  constexpr std::uint64_t operator()(Process&, std::size_t /*word*/) const {
    return ~std::uint64_t{0};
  }
};

}  // namespace kgate

namespace kgate::detail {

/// Words, rounded up to whole cache lines where several fit into one.
template <class M>
constexpr std::size_t whole_lines(std::size_t words) {
  constexpr std::size_t line = data_word<M>::per_line;
  return (words + line - 1) / line * line;
}
/// A bit for each of k processes.
constexpr std::size_t words_of_bits(std::size_t k) { return (k + 63) / 64; }

/// W is tag : names : index. `Names` is how many names W holds, `Blocks` how many blocks there may be.
template <int Names, std::size_t Blocks, bool Tags>
struct version_word {
  using word = std::uint64_t;
  static constexpr int index_bits = std::bit_width(Blocks - 1);
  static constexpr int tag_at = index_bits + Names;
  static_assert(tag_at <= 32, "no room for a tag that does not come round while a process is stalled");

  static constexpr word low(int bits) { return (word{1} << bits) - 1; }
  static constexpr std::size_t index(word w) { return static_cast<std::size_t>(w & low(index_bits)); }
  static constexpr word names_in(word w) { return w >> index_bits & low(Names); }
  /// Nothing for a name that W does not hold.
  static constexpr word name_bit(std::size_t name) {
    return name < std::size_t{Names} ? word{1} << (static_cast<std::size_t>(index_bits) + name) : 0;
  }
  static constexpr word version(word w) { return w & ~(low(Names) << index_bits); }
  /// Another version is current, in this block, and the process that made it has left.
  static constexpr word successor(word w, std::size_t block, std::size_t name) {
    const word others = w & ~low(index_bits) & ~name_bit(name);
    return (Tags ? others + (word{1} << tag_at) : others) | block;
  }
};

/// Where the words of a block lie, for k names (K if that is known when compiled): bits, state, results. An operation
/// that meets no other needs the first two, and of the state perhaps not all.
template <class M, Sequential T, int K>
class block_layout {
 public:
  static constexpr std::size_t state_words = in_words<T>::size;
  static constexpr std::size_t result_words = in_words<typename T::result>::size;

  explicit constexpr block_layout(std::size_t k) : k_(k) {}
  constexpr std::size_t names() const { return K == at_runtime ? k_ : static_cast<std::size_t>(K); }
  constexpr std::size_t words() const { return state_at() + state_words + names() * result_words; }
  constexpr std::size_t stride() const { return whole_lines<M>(words()); }
  constexpr std::size_t state_at() const { return words_of_bits(names()); }
  constexpr std::size_t result_at(std::size_t q) const { return state_at() + state_words + q * result_words; }

 private:
  std::size_t k_;
};

template <class V, int K, auto count>
using local_array = std::conditional_t<K == at_runtime, std::vector<V>, std::array<V, static_cast<std::size_t>(count)>>;

/// The content of a version, copied, and the operations announced that it has not seen.
template <Sequential T, int K>
struct version_contents {
  using result = typename T::result;
  using operation = typename T::operation;

  explicit version_contents([[maybe_unused]] std::size_t k) {
    if constexpr (K == at_runtime) results.resize(k), pending.resize(k), announced.resize(k);
  }
  in_words<T> state;
  local_array<in_words<result>, K, K> results;
  local_array<std::uint16_t, K, K> pending;
  local_array<in_words<operation>, K, K> announced;
};

/// A version, copied: what W was, and the content; apart, so that the numbers stay in registers.
template <Sequential T, int K>
struct version_copy {
  using word = std::uint64_t;

  version_copy(version_contents<T, K>& contents, [[maybe_unused]] std::size_t k)
      : in(contents), state(&contents.state) {
    if constexpr (K == at_runtime) bits.resize(words_of_bits(k)), present.resize(words_of_bits(k));
  }
  word& bits_of(std::size_t q) { return bits[K != at_runtime && K <= 64 ? 0 : q / 64]; }
  bool bit(std::size_t q) { return (bits_of(q) >> (q % 64) & 1) != 0; }
  void flip(std::size_t q) { bits_of(q) ^= word{1} << (q % 64); }

  /// Every name that is present.
  template <class Do>
  [[gnu::always_inline]] void for_each_present(Do&& act) const {
    for (std::size_t i = 0; i < present.size(); ++i)
      for (word some = present[i]; some != 0; some &= some - 1)
        act(64 * i + static_cast<std::size_t>(std::countr_zero(some)));
  }
  bool nobody_present() const {
    return std::all_of(present.begin(), present.end(), [](word some) { return some == 0; });
  }

  version_contents<T, K>& in;
  in_words<T>* state;
  word seen = 0;  // W at (4)
  word now = 0;   // W later; if only names came and went since, the same version
  std::size_t pending_count = 0;
  local_array<word, K, words_of_bits(K)> bits;
  local_array<word, K, words_of_bits(K)>
      present;  // which may have announced something, and whose results must not be lost
};

/// The words of a state into and out of a block; these loops are what an operation costs. The first word is there
/// already: it says how many are used.
template <class Process, class Data, class Words>
void read_state(Process& p, Data* from, Words& to, std::size_t used) {
#pragma GCC unroll 4
  for (std::size_t i = 1; i < used; ++i) to.set(i, from[i].read(p["5"]));
}
template <class Process, class Data, class Words>
void write_state(Process& p, const Words& from, Data* to, std::size_t used) {
#pragma GCC unroll 4
  for (std::size_t i = 0; i < used; ++i) to[i].write(p["10"], from.get(i));
}

/// The same number, of which the processor need not know that it is before it goes on: it takes the branch it took
/// last.
inline std::size_t foreseen(std::size_t number) {
  for (std::size_t i = 0; i < 4; ++i)
    if (number == i) {
      std::size_t known = i;
      asm("" : "+r"(known));
      return known;
    }
  return number;
}

}  // namespace kgate::detail
