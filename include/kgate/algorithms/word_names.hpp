// SPDX-License-Identifier: Apache-2.0
#pragma once

/// k-assignment in one word: a bit for each free name, and a process that clears one is inside under that name.
///
/// Source       our own; the bitmap of names (bitmap_names.hpp) without an algorithm for k-exclusion in front of it
/// Promises     at most k inside, with distinct names; deadlock freedom with at most k-1 crashes (not starvation
///              freedom: of the waiters any may be next); bounded exit. One read and one compare-and-swap to enter
///              when no other does, one fetch-and-add to leave. The processes inside can be read at once. Primitives:
///              compare-and-swap, fetch-and-add. Space: one word.
/// Variables    F  the free names, a bit each    initially all below k
/// Invariants   a bit is clear iff a process is inside under this name
/// Deviations   none
/// Memory model sequential consistency
/// Evidence     tests/objects (resilient objects over it), tests/objects (word_slots)

#include <bit>
#include <limits>
#include <optional>

#include "kgate/detail/machine.hpp"

namespace kgate {

template <class M, class Word>
class word_names {
 public:
  using Process = typename M::Process;
  struct Private {
    int name = -1;
  };
  static constexpr int names_max = std::numeric_limits<Word>::digits;

  word_names(typename M::Memory& memory, int /*N*/, int k) : k_(k), F(memory, {.name = "F"}, all(k)) {}

  void acquire(Process& p, Private& mine) {
    for (;;) {
      const Word seen = F.await_value(p["1"], [](Word free) { return free != 0; });
      if (take(p, seen, mine)) return;
      p.live();
    }
  }
  /// False if no name is free.
  bool try_acquire(Process& p, Private& mine) {
    for (;;) {
      const Word seen = F.read(p["1"]);
      if (seen == 0) return false;
      if (take(p, seen, mine)) return true;
    }
  }
  void release(Process& p, Private& mine) { give_back(p, mine.name); }
  /// False if the name was not taken: then the word is spoilt.
  bool give_back(Process& p, int name) {
    const Word bit = static_cast<Word>(Word{1} << name);
    return (F.fetch_add(p["3"], bit) & bit) == 0;
  }

  /// The names that are free, and those that are taken, a bit each.
  Word free_names(Process& p) { return F.read(p["4"]); }
  Word taken_names(Process& p) { return static_cast<Word>(~free_names(p) & all(k_)); }
  int size() const noexcept { return k_; }
  /// Where processes that find no name free may sleep.
  typename M::template Var<Word>& word() noexcept { return F; }

 private:
  static constexpr Word all(int k) {
    return k == 0 ? Word{0} : static_cast<Word>(static_cast<Word>(~Word{0}) >> (names_max - k));
  }
  bool take(Process& p, Word seen, Private& mine) {
    if (!F.compare_and_swap(p["2"], seen, static_cast<Word>(seen & (seen - 1)))) return false;
    mine.name = std::countr_zero(seen);
    return true;
  }

  int k_;
  typename M::template Var<Word> F;
};

}  // namespace kgate
