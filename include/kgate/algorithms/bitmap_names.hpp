// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Names 0..k-1 for at most k processes at a time: one bit per name, a word of names read at once.
///
/// Source       Anderson & Moir 1997, figure 1 (k-assignment), with the test-and-set bits packed into words.
/// Promises     distinct names inside, each taken with at most k read-modify-writes and one read per word; given back
///              with one. Primitives: read-modify-write, fetch-and-add. Space: ceil(k/64) words.
/// Variables    B[i]  the free names among 64i .. 64i+63, a bit each    initially all below k
/// Invariants   a process that passed over the names below j found each of them taken after it entered; at most k are
///              inside, so a name from j on is free or about to be given back to it (the paper's argument for
///              test-and-set, name by name)
/// Deviations   D1  names seen taken in one read are passed over together: the same as finding them taken one after the
/// other Memory model sequential consistency
/// Evidence     tests/semaphore (model and stress)

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "kgate/detail/contracts.hpp"
#include "kgate/detail/fixed_array.hpp"
#include "kgate/detail/machine.hpp"

namespace kgate {

template <class M, class Word = std::uint64_t>
class bitmap_names {
 public:
  using Process = typename M::Process;
  static constexpr int per_word = std::numeric_limits<Word>::digits;

  bitmap_names(typename M::Memory& memory, int k)
      : k_(k), B(static_cast<std::size_t>((k + per_word - 1) / per_word), [&](std::size_t i) {
          const int here = std::min(per_word, k - static_cast<int>(i) * per_word);
          return Var(memory, {.name = "B", .instance = static_cast<int>(i)},
                     static_cast<Word>(static_cast<Word>(~Word{0}) >> (per_word - here)));
        }) {}

  /// For a process that is one of at most k.
  int take(Process& p) {
    for (std::size_t i = 0; i < B.size(); ++i) {
      Word seen = B[i].read(p["n1"]);
      while (seen != 0) {
        const Word bit = static_cast<Word>(seen & (Word{0} - seen));
        const Word old = B[i].rmw(p["n2"], [bit](Word v) { return static_cast<Word>(v & static_cast<Word>(~bit)); });
        if ((old & bit) != 0) return static_cast<int>(i) * per_word + std::countr_zero(bit);
        seen = static_cast<Word>(old & static_cast<Word>(~((bit << 1) - 1)));  // only upwards
      }
    }
    KGATE_EXPECTS(false, "more processes hold names than there are names");
    return -1;
  }
  /// False if the name was not taken.
  bool give_back(Process& p, int name) {
    const Word bit = static_cast<Word>(Word{1} << (name % per_word));
    const Word old =
        B[static_cast<std::size_t>(name / per_word)].rmw(p["n3"], [bit](Word v) { return static_cast<Word>(v | bit); });
    return (old & bit) == 0;
  }
  int size() const noexcept { return k_; }

 private:
  using Var = typename M::template Var<Word>;
  int k_;
  fixed_array<Var> B;
};

/// k-assignment: the names over an algorithm for k-exclusion.
template <class M, class Exclusion, class Word = std::uint64_t>
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
  bitmap_names<M, Word> names_;
};

}  // namespace kgate
