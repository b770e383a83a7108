// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "lab/checker/properties/checking.hpp"

namespace kgate::lab {

void checking::exclusion(property_result& r) {
  by_state(r, explored_.exclusion,
           fmt::format("more than {} inside",
                       program_.k() == 1 ? "1 process is" : fmt::format("{} processes are", program_.k())));
}

void checking::distinct_names(property_result& r) {
  by_state(r, explored_.names, "two processes inside hold the same name, or one not below k");
}

void checking::invariant(property_result& r) {
  if (!program_.has_invariant()) return undecided(r, "not applicable: the algorithm's text has no invariant beside it");
  const state_id bad = explored_.broken_invariant;
  by_state(r, bad, bad == no_state ? "" : broken_invariant(*explored_.table, explored_.store->record(bad)));
}

}  // namespace kgate::lab
