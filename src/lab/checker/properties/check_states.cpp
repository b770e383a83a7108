// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "lab/checker/claims/formula.hpp"
#include "lab/checker/graph/local_analysis.hpp"
#include "lab/checker/properties/checking.hpp"

namespace kgate::lab {

void checking::exclusion(property_result& r) { by_state(r, explored_.exclusion, too_many_inside(program_.k())); }

void checking::distinct_names(property_result& r) {
  by_state(r, explored_.names, "two processes inside hold the same name, or one not below k");
}

void checking::invariant(property_result& r) {
  if (!program_.has_invariant()) return undecided(r, "not applicable: the algorithm's text has no invariant beside it");
  if (request_.of.wrong.empty())  // a deliberate error may take a label away
    for (const std::string& label : program_.labels_in_invariant())
      require_label("the invariant", label, program_, request_.labels);
  const state_id bad = explored_.broken_invariant;
  by_state(r, bad, bad == no_state ? "" : broken_invariant(*explored_.table, explored_.store->record(bad)));
}

state_id checking::state_at(int process, local_id local) {
  const layout& pack = explored_.table->packing();
  const local_state& here = program_.local(process, local);
  for (const id_range& r : explored_.used())
    for (state_id s = r.begin; s < r.end; ++s) {
      const std::uint64_t* words = explored_.store->record(s);
      if (pack.local[static_cast<std::size_t>(process)].get(words) != local) continue;
      if (here.op != operation::await) return s;
      const auto value = static_cast<code>(pack.variable[static_cast<std::size_t>(here.variable)].get(words));
      if (program_.step(process, local, value).blocked) return s;
    }
  return no_state;
}

void checking::local_waiting(property_result& r) {
  if (!explored_.complete) return undecided(r, explored_.why);
  r.is = verdict::holds;
  for (int p = 0; p < program_.N(); ++p)
    for (const region where : {region::entry, region::exit}) {
      const std::vector<bool> waits = recurrent_locals(program_, p, where);
      for (std::size_t i = 0; i < waits.size(); ++i) {
        const auto local = static_cast<local_id>(i);
        const int v = program_.local(p, local).variable;
        if (!waits[i] || v < 0 || program_.variable(v).home == pid(p)) continue;
        const state_id s = state_at(p, local);
        if (s == no_state) continue;  // it never waits there
        lasso run;
        run.victim = p;
        return violated(r, s,
                        fmt::format("process {} waits at {}, at label {}, which is not at home with it", p,
                                    program_.variable(v).name, program_.local(p, local).label),
                        run);
      }
    }
}

}  // namespace kgate::lab
