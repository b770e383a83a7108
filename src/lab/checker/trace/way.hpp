// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How the search came to a state.

#include <vector>

#include "lab/checker/explore/explorer.hpp"
#include "lab/checker/model/permutation.hpp"

namespace kgate::lab {

/// The way from the initial state to a stored one: the process of each step, and, with symmetry, how the stored state's
/// processes are called in the state the way leads to (a stored state is then a renaming of it).
struct way {
  std::vector<int> schedule;
  permutation called;
};

/// With symmetry the way is walked forwards, and each step is recognised by its reduced form.
way way_to(exploration& e, state_id s, bool symmetry);

}  // namespace kgate::lab
