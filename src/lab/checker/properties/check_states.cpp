// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "lab/checker/claims/formula.hpp"
#include "lab/checker/graph/local_analysis.hpp"
#include "lab/checker/properties/checking.hpp"
#include "lab/checker/trace/able.hpp"

namespace kgate::lab {

namespace {

/// In how many states it is tried whether a process polls there, and how far each time.
constexpr int polls_tried_max = 1000;
constexpr std::size_t positions_max = 1000;

walker::position position_of(const program& of, const layout& pack, const std::uint64_t* words) {
  walker::position at;
  for (int v = 0; v < of.variables(); ++v)
    at.values.push_back(static_cast<code>(pack.variable[static_cast<std::size_t>(v)].get(words)));
  for (int p = 0; p < of.N(); ++p)
    at.locals.push_back(static_cast<local_id>(pack.local[static_cast<std::size_t>(p)].get(words)));
  return at;
}

}  // namespace

void checking::exclusion(property_result& r) { by_state(r, explored_.exclusion, too_many_inside(program_.k())); }

void checking::distinct_names(property_result& r) {
  by_state(r, explored_.names, "two processes inside hold the same name, or one not below k");
}

void checking::invariant(property_result& r) {
  if (!program_.has_invariant()) return undecided(r, no_invariant);
  if (request_.of.wrong.empty())  // a deliberate error may take a label away
    for (const std::string& label : program_.labels_in_invariant())
      require_label("the invariant", label, program_, request_.labels);
  const state_id bad = explored_.broken_invariant;
  by_state(r, bad, bad == no_state ? "" : broken_invariant(*explored_.table, explored_.store->record(bad)));
}

state_id checking::state_at(int process, local_id local) {
  const layout& pack = explored_.table->packing();
  const local_state& here = program_.local(process, local);
  state_id first = no_state;
  int tried = 0;
  for (const id_range& r : explored_.used())
    for (state_id s = r.begin; s < r.end; ++s) {
      const std::uint64_t* words = explored_.store->record(s);
      if (pack.local[static_cast<std::size_t>(process)].get(words) != local) continue;
      if (here.op != operation::await) {  // best one in which what it polls has not come yet
        if (first == no_state) first = s;
        if (tried++ == polls_tried_max) return first;
        if (position_in_run(program_, position_of(program_, pack, words)).shown_to_come_back(process, positions_max))
          return s;
        continue;
      }
      const auto value = static_cast<code>(pack.variable[static_cast<std::size_t>(here.variable)].get(words));
      if (program_.step(process, local, value).blocked) return s;
    }
  return first;
}

void checking::local_waiting(property_result& r) {
  if (!explored_.complete) return undecided(r, explored_.why);
  r.is = verdict::holds;
  std::string not_shown;
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
        violated(r, s,
                 fmt::format("process {} waits at {}, at label {}, which is not at home with it", p,
                             program_.variable(v).name, program_.local(p, local).label),
                 run);
        if (validate(*r.counterexample, program_).empty()) return;
        r.is = verdict::holds;
        r.counterexample.reset();
        not_shown = fmt::format("no run was found on which process {} comes back to label {}", p,
                                program_.local(p, local).label);
      }
    }
  if (!not_shown.empty()) undecided(r, not_shown);
}

}  // namespace kgate::lab
