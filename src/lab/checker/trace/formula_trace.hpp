// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Judges a run that is said to violate a formula by the meaning of the formula alone, without its automaton.

#include <string>

#include "lab/checker/claims/formula.hpp"
#include "lab/checker/trace/trace.hpp"

namespace kgate::lab {

/// Empty if the run is as fair as is asked for and the formula is false of it, else what is wrong.
std::string judge_formula(const trace& t, const formula_property& wanted, program& p);

}  // namespace kgate::lab
