// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kgate/detail/cxx20.hpp"

/// A (k-1)-resilient object for N processes: an object for k processes behind k-assignment.
///
/// Source       Anderson & Moir 1997, section 5
/// Promises     linearizable, as the object is; k-1 processes may stall or die anywhere inside and the others'
///              operations still end, as far as the assignment's starvation freedom goes. With at most k processes at a
///              time none waits. Space: that of the assignment for N and of the object for k: N does not enter into
///              the size of the blocks.
/// Variables    those of the two
/// Invariants   at most one process at a time works under a name; one that died inside keeps its name, and the object's
///              block that belongs to it
/// Deviations   none
/// Evidence     tests/objects (all interleavings of 3 processes with k = 2, one of them stalled for ever)

#include <cstddef>
#include <cstdint>

#include "kgate/detail/machine.hpp"

namespace kgate {

/// Object is herlihy93 or in_place (k = 1), Assignment an algorithm whose Private has a `name`: both on the machine M.
template <class M, class Object, class Assignment, class T>
class assigned {
 public:
  using Process = typename M::Process;
  using operation = typename T::operation;
  using result = typename T::result;

  assigned(typename M::Memory& memory, int N, int k, const T& initial = T())
      : assignment_(memory, N, k), object_(memory, k, initial) {}

  result apply(Process& p, const operation& op) {
    typename Assignment::Private mine{};
    assignment_.acquire(p, mine);
    const result got = carry_out(p, mine.name, op);
    assignment_.release(p, mine);
    return got;
  }

 private:
  /// Tells the object which processes are inside, if both can.
  result carry_out(Process& p, int name, const operation& op) {
    constexpr bool counts_names = requires(Assignment & a) { a.taken_names(p); };
    constexpr bool copies = requires(Object & o) { o.blocks(); };
    if constexpr (counts_names && copies)
      return object_.apply(p, name, op,
                           [this](Process& q, std::size_t) -> std::uint64_t { return assignment_.taken_names(q); });
    else
      return object_.apply(p, name, op);
  }

  Assignment assignment_;
  Object object_;
};

}  // namespace kgate
