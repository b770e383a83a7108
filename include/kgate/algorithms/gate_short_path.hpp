// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Entering and leaving a gate by one compare-and-swap, when none waits: the short paths of gate_protocol.hpp.
///
/// Source       this project; what members of kgate::gate run first (gate.hpp)
/// Variables    those of gate_protocol.hpp, and of each member a guess: what it last made of W, or 0
/// Why it works The paths begin on the guess that W is still as this member left it. Then the operation in W is this
///              member's own and its effect has been applied, so there is nothing to help (G2), and the guess cannot
///              be out of date unnoticed, for no other makes this member the subject of an operation while it is
///              out or inside and alive. A wrong guess shows W as it is: if what that names has been applied, and
///              none waits, W is changed from there; else the long way (protocol::request, protocol::leave) is next.
/// Invariant    G11  a guess other than 0 is a word that this member made by entering or leaving with weight 1, with
///                   none waiting, and, if by leaving, with a permit free
/// Memory model as of gate_protocol.hpp: sequential consistency for W and the reads of state; a member's own effect is
///              a release store, whose partner is the acquire side of the helpers' reads
/// Evidence     tests/gate/lab (explored with the long ways, with deaths; mutants)
///
/// Cells is a value, or a reference to one: word() state_of(i) set_state(i, state) calls() live(n, a, b) as of the
/// protocol's,
///   update_word(word& expected, word desired)  compare-and-swap; if it fails, `expected` is what W was
///   back_off(tries)   no step: W changes at this moment; where none need wait, members are faster one after the
///                     other, for a while each, than in turns
///   tries_max         how often W is tried before the long way
///   looks_at_calls(out)   no step: whether this passage looks at C first (G12); all do where none may pass, else the
///                     members have so many passages between them that do not

#include <cstdint>
#include <type_traits>

#include "kgate/algorithms/gate_word.hpp"

namespace kgate::detail::gates {

template <class Cells>
class short_path {
 public:
  explicit short_path(Cells cells) : c(cells) {}

  /// Member i, whose state is `out` with weight 1, enters if none waits, or may be about to (G12), and a permit is
  /// free. False: nothing was done.
  bool enter(const unsigned& i, state out, std::uint64_t& guess) {
    word seen{guess};
    if (!seen.is_guess_of_leaving()) return false;
    if (c.looks_at_calls(out) && c.calls().pending() != 0) return false;
    const word desired = seen.entered_after_leaving();
    if (c.update_word(seen, desired)) {
      guess = desired.bits;
    } else if (!change(c, op::enter, i, out, seen, guess)) {
      return false;
    }
    c.set_state(i, out.entered_from_out());
    return true;
  }

  /// Member i, whose state is `out` when it is out, with weight 1, leaves if none waits. False: nothing was done.
  bool leave(const unsigned& i, state out, std::uint64_t& guess) {
    word seen{guess};
    if (!seen.is_guess_of_entering()) return false;
    const word desired = seen.left_after_entering();
    if (c.update_word(seen, desired)) {
      guess = desired.bits;
    } else if (!change(c, op::leave, i, out, seen, guess)) {
      return false;
    }
    c.set_state(i, out.next_from_out());
    return true;
  }

 private:
  /// From W as it was `seen`.
  static bool change(Cells c, op what, const unsigned& i, state out, word seen, std::uint64_t& guess) {
    const int permits = what == op::enter ? -1 : 1;
    for (int tries = 0; tries < std::remove_reference_t<Cells>::tries_max; ++tries) {
      c.live(21, what, out.bits, seen.bits, tries);
      const bool passing = seen.operation() == op::enter || seen.operation() == op::leave;
      if (!passing || seen.waiting() || seen.free() + permits < 0 || seen.subject() >= members_max) return false;
      const state subject = c.state_of(seen.subject());
      if (effect(seen.operation(), subject) != subject) {  // its owner is about to
        if (what == op::enter) c.back_off(tries);
        c.live(22, what, out.bits, tries);
        seen = c.word();
        continue;
      }
      c.live(23, what, out.bits, seen.bits, tries);
      const word desired = seen.next(what, i, seen.free() + permits, false);
      if (c.update_word(seen, desired)) {
        guess = desired.bits;
        return true;
      }
      if (what == op::enter) c.back_off(tries);
    }
    return false;
  }

  Cells c;
};

/// What a member keeps of `made`, which it made of W with `weight` (G11).
inline std::uint64_t guess_after(word made, int weight) {
  const bool free = made.operation() == op::enter || made.free() > 0;
  return weight == 1 && !made.waiting() && free ? made.bits : 0;
}

}  // namespace kgate::detail::gates
