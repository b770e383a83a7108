// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kgate/detail/cxx20.hpp"

/// A named object whose names come back when their owners die.
///
/// Source       our own: named_object.hpp with N5, behind a lock for each name that tells when its owner died
/// Promises     linearizable; at most K inside; any number of processes may die anywhere, one after the other or at
///              once: the next to try a dead one's lock heals it. What a dead one had announced is carried out, what
///              it had not may or may not have been. While K owners are stalled, and live, all others wait.
/// Variables    those of named_object.hpp; L[q]  the lock of the name q
/// Invariants   those of named_object.hpp; one in W under the name q, or healing it, holds L[q] or died holding it
/// Memory model that of named_object.hpp; the locks order what the assignment of names orders there
/// Evidence     tests/objects: every interleaving of operations beside an owner that dies after its nth step, for every
///              n, and of one beside two that die, the second also while it heals; mutants; processes killed in storms

#include <cstddef>
#include <cstdint>

#include "kgate/objects/named_object.hpp"
#include "kgate/objects/robust_locks.hpp"

namespace kgate {

/// Locks is made as Locks(memory, names) and has try_lock(p, q), consistent(p, q) and unlock(p, q), see
/// robust_locks.hpp.
template <class M, Sequential T, int K, class Locks, class Rules = healing_rules>
class healing_object {
 public:
  using Process = typename M::Process;
  using operation = typename T::operation;
  using result = typename T::result;

  healing_object(typename M::Memory& memory, int names, const T& initial = T())
      : names_(names), locks_(memory, names), object_(memory, names, initial) {}

  /// Carries op out under a name whose lock is free or was held by one that died, trying `first` first; false if others
  /// that live hold them all.
  bool try_apply(Process& p, int first, const operation& op, in_words<result>& mine) {
    for (int i = 0; i < names_; ++i)
      if (const int q = (first + i) % names_; lock(p, q)) {
        mine = object_.apply(p, object_.enter_as(p, q), op);
        locks_.unlock(p["19"], q);
        return true;
      }
    return false;
  }
  bool try_read(Process& p, const operation& op, in_words<result>& mine) { return object_.try_read(p, op, mine); }

  std::size_t blocks() const noexcept { return object_.blocks(); }
  std::size_t block_bytes() const noexcept { return object_.block_bytes(); }
  /// The names that are not inside, a bit each.
  std::uint64_t free_names(Process& p) { return object_.free_names(p); }

 private:
  bool lock(Process& p, int q) {
    const detail::lock_result got = locks_.try_lock(p["0"], q);
    if (got == detail::lock_result::owner_died) {
      object_.heal(p, q);
      locks_.consistent(p["0"], q);
    }
    return got != detail::lock_result::busy;
  }

  int names_;
  Locks locks_;
  named_object<M, T, K, Rules> object_;
};

}  // namespace kgate
