// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The runs of which a formula is true, as an automaton with acceptance sets (Gerth, Peled, Vardi & Wolper 1995).

#include <cstdint>
#include <vector>

#include "lab/checker/claims/formula.hpp"

namespace kgate::lab {

/// A run of states is accepted if the automaton can go along with it, each of its own states agreeing with the state of
/// the run on the atoms it names, so that every acceptance set is met again and again.
struct buchi_automaton {
  struct state {
    std::uint64_t needs_true = 0, needs_false = 0;  ///< atoms
    std::vector<int> next;
    std::uint32_t accepting = 0;  ///< the acceptance sets it is in
    bool initial = false;

    bool agrees(std::uint64_t valuation) const {
      return (valuation & needs_true) == needs_true && (valuation & needs_false) == 0;
    }
  };
  std::vector<state> states;
  int acceptance_sets = 0;
};

/// Throws std::invalid_argument if the formula is too long.
buchi_automaton to_buchi(const temporal_formula& f);

}  // namespace kgate::lab
