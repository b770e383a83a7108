// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "lab/checker/claims/formula.hpp"
#include "lab/checker/properties/checking.hpp"
#include "lab/checker/properties/formula_search.hpp"

namespace kgate::lab {

void checking::formula(property_result& r) {
  const formula_property wanted = *parse_formula_property(r.name);
  const temporal_formula f(wanted.formula, program_);
  if (!explored_.complete) return undecided(r, explored_.why);
  f.check_labels(program_, request_.labels);
  if (request_.symmetry) return undecided(r, "formulas name processes: decide them without symmetry");
  if (!linked()) return undecided(r, watch_.why());
  const formula_result found =
      find_violation(explored_, *graph_, f, wanted.fairness, request_.crashes, request_.limits, watch_);
  if (!found.found) {
    if (!found.complete) return undecided(r, watch_.why());
    r.is = verdict::holds;
    return;
  }
  r.is = verdict::violated;
  trace t;
  t.of = request_.of;
  t.property = r.name;
  t.what = "the formula is false of this run";
  t.crashed = members(found.found->crashed);
  append(t.schedule, found.found->steps);
  if (!found.found->cycle.empty()) t.loop = static_cast<int>(t.schedule.size());
  append(t.schedule, found.found->cycle);
  r.counterexample = std::move(t);
}

}  // namespace kgate::lab
