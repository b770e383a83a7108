// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Names 0..k-1 for at most k processes at a time: one bit per name, a word of
/// names read at once, and above them words that say where to look.
///
/// Source       Anderson & Moir 1997, figure 1 (k-assignment), with the
/// test-and-set bits packed into words. Promises     distinct names inside,
/// each taken with at most k read-modify-writes and one read per word; given
/// back
///              with one, or one more for each level where a word had none
///              left. Primitives: read-modify-write. Space: ceil(k/64) words
///              and a 63rd of that.
/// Variables    B[i]  the free names among 64i .. 64i+63, a bit each initially
/// all below k
///              H[j]  a level above: bit i is set where word 64j+i of the level
///              below may have a bit. Only hints
/// Invariants   a process that passed over the names below j found each of them
/// taken after it entered; at most k are
///              inside, so a name from j on is free or about to be given back
///              to it (the paper's argument for test-and-set, name by name)
/// Deviations   D1  names seen taken in one read are passed over together: the
/// same as finding them taken one after the
///                  other
///              D2  where there is more than one word of names, hints are
///              followed first, a bounded number of times.
///                  What they lead to is taken if it is free and preferred; the
///                  paper's way upwards follows only if it is not
/// Memory model sequential consistency
/// Evidence     tests/semaphore (model and stress)

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "kgate/detail/contracts.hpp"
#include "kgate/detail/fixed_array.hpp"
#include "kgate/detail/machine.hpp"

namespace kgate {

/// @tparam per_word  how many names or hints a word has
template <class M, class Word = std::uint64_t, int per_word = std::numeric_limits<Word>::digits>
class bitmap_names {
 public:
  using Process = typename M::Process;

  bitmap_names(typename M::Memory& memory, int k)
      : k_(k), levels_(levels_of(k)), first_of_(first_words_of(k)), B(first_of_[levels_], [&](std::size_t at) {
          std::size_t level = 0;
          while (at >= first_of_[level + 1]) ++level;
          const std::size_t below = level == 0 ? static_cast<std::size_t>(k) : words_in(level - 1);
          const std::size_t here = std::min<std::size_t>(per_word, below - (at - first_of_[level]) * per_word);
          return Var(memory, {.name = level == 0 ? "B" : "H", .instance = static_cast<int>(at)}, ones(here));
        }) {}

  /// For a process that is one of at most k. One that is one of at most
  /// `preferred` gets a name below that.
  int take(Process& p, int preferred) {
    if (levels_ > 1) {
      for (int tries = 0; tries < hints_max; ++tries)
        if (const int name = take_by_hint(p, preferred); name >= 0) return name;
    }
    for (std::size_t i = 0; i < words_in(0); ++i)
      if (const int name = take_in(p, i, k_); name >= 0) return name;
    KGATE_EXPECTS(false, "more processes hold names than there are names");
    return -1;
  }
  int take(Process& p) { return take(p, k_); }
  /// False if the name was not taken.
  bool give_back(Process& p, int name) {
    const std::size_t i = static_cast<std::size_t>(name / per_word);
    const Word bit = bit_of(static_cast<std::size_t>(name));
    const Word old = B[i].rmw(p["n3"], [bit](Word v) { return static_cast<Word>(v | bit); });
    if (old == 0 && levels_ > 1) set_hint(p, 0, i);
    return (old & bit) == 0;
  }
  int size() const noexcept { return k_; }

 private:
  using Var = typename M::template Var<Word>;
  static constexpr std::size_t levels_max = 7;
  static constexpr int hints_max = 4;

  static constexpr Word ones(std::size_t count) {
    return static_cast<Word>(static_cast<Word>(~Word{0}) >>
                             (std::numeric_limits<Word>::digits - static_cast<int>(count)));
  }
  static constexpr Word bit_of(std::size_t i) { return static_cast<Word>(Word{1} << (i % per_word)); }
  static constexpr Word lowest(Word v) { return static_cast<Word>(v & (Word{0} - v)); }
  static std::size_t levels_of(int k) {
    std::size_t levels = 1;
    for (int words = (k + per_word - 1) / per_word; words > 1; words = (words + per_word - 1) / per_word) ++levels;
    return levels;
  }
  /// Where each level begins, and where the last ends.
  static std::array<std::size_t, levels_max + 1> first_words_of(int k) {
    std::array<std::size_t, levels_max + 1> first{};
    std::size_t below = static_cast<std::size_t>(k);
    for (std::size_t level = 0; level < levels_of(k); ++level) {
      below = (below + per_word - 1) / per_word;
      first[level + 1] = first[level] + below;
    }
    return first;
  }
  std::size_t words_in(std::size_t level) const { return first_of_[level + 1] - first_of_[level]; }
  Var& word(std::size_t level, std::size_t i) { return B[first_of_[level] + i]; }

  /// A free name below `limit` of word i, taken; -1 if there is none. Only
  /// upwards.
  int take_in(Process& p, std::size_t i, int limit) {
    Word seen = B[i].read(p["n1"]);
    while (seen != 0) {
      const Word bit = lowest(seen);
      const int name = static_cast<int>(i) * per_word + std::countr_zero(bit);
      if (name >= limit) return -1;
      const Word old = B[i].rmw(p["n2"], [bit](Word v) { return static_cast<Word>(v & static_cast<Word>(~bit)); });
      if (old == bit && levels_ > 1) clear_hint(p, 0, i);
      if ((old & bit) != 0) return name;
      seen = static_cast<Word>(old & static_cast<Word>(~((bit << 1) - 1)));
    }
    return -1;
  }
  /// Down the lowest hints. -1: they led to nothing below `limit`.
  int take_by_hint(Process& p, int limit) {
    std::size_t i = 0;
    for (std::size_t level = levels_ - 1; level > 0; --level) {
      const Word hints = word(level, i).read(p["h1"]);
      if (hints == 0) {
        if (level + 1 < levels_) clear_hint(p, level, i);
        return -1;
      }
      i = i * per_word + static_cast<std::size_t>(std::countr_zero(hints));
    }
    const int name = take_in(p, i, limit);
    if (name < 0 && static_cast<int>(i) * per_word < limit) clear_hint(p, 0, i);
    return name;
  }
  /// Word i of `level` has a bit again.
  void set_hint(Process& p, std::size_t level, std::size_t i) {
    for (; level + 1 < levels_; ++level, i /= per_word) {
      const Word bit = bit_of(i);
      if (word(level + 1, i / per_word).rmw(p["h2"], [bit](Word v) { return static_cast<Word>(v | bit); }) != 0) return;
    }
  }
  /// Word i of `level` seems to have none left. Looked at again: a bit that
  /// came meanwhile may have found its hint set.
  void clear_hint(Process& p, std::size_t level, std::size_t i) {
    const Word bit = bit_of(i);
    const Word old = word(level + 1, i / per_word).rmw(p["h3"], [bit](Word v) {
      return static_cast<Word>(v & static_cast<Word>(~bit));
    });
    if (word(level, i).read(p["h4"]) != 0)
      set_hint(p, level, i);
    else if (old == bit && level + 2 < levels_)
      clear_hint(p, level + 1, i / per_word);
  }

  int k_;
  std::size_t levels_;
  std::array<std::size_t, levels_max + 1> first_of_;
  fixed_array<Var> B;
};

/// k-assignment: the names over an algorithm for k-exclusion.
template <class M, class Exclusion, class Word = std::uint64_t, int per_word = std::numeric_limits<Word>::digits>
class bitmap_assignment {
 public:
  using Process = typename M::Process;
  struct Private {
    typename Exclusion::Private inner{};
    int name = -1;
  };
  bitmap_assignment(typename M::Memory& memory, int N, int k) : exclusion_(memory, N, k), names_(memory, k) {}
  void acquire(Process& p, Private& mine) {
    exclusion_.acquire(p, mine.inner);
    mine.name = names_.take(p);
  }
  void release(Process& p, Private& mine) {
    names_.give_back(p, mine.name);
    exclusion_.release(p, mine.inner);
  }

 private:
  Exclusion exclusion_;
  bitmap_names<M, Word, per_word> names_;
};

}  // namespace kgate
