// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "lab/checker/properties/checking.hpp"

namespace kgate::lab {

void checking::about_enabling(property_result& r) {
  if (request_.of.safe_registers) return undecided(r, not_atomic);
  const bool of_cycles = r.name == "finite-waiting" || r.name == "finite-enabling" || r.name == "fifo";
  if (explored_.exclusion != no_state && !of_cycles)
    return by_state(r, explored_.exclusion, "more than k processes are inside");
  if (!explored_.complete) return undecided(r, explored_.why);
  if (!linked()) return undecided(r, watch_.why());
  if (graph_->steps() != graph_->N()) return undecided(r, not_atomic);
  if (!enabling_) enabling_ = std::make_unique<enabling>(explored_, *graph_, watch_);
  if (!enabling_->complete()) return undecided(r, watch_.why());
  if (r.name == "kl-deadlock-free")
    return by_lasso(r, find_group_deadlock(*graph_, *depths_, *enabling_, program_.k(), request_.crashes, watch_),
                    "nobody changes regions any more although a permit is neither taken nor allocated");
  r.is = verdict::holds;
  if (of_cycles) return r.name == "fifo" ? fifo(r, waits_for::inside) : finite_waiting(r);
  if (r.name == "l-queuelike")
    if (const state_id s = find_exit_region(*graph_, *depths_); s != no_state)
      return violated(r, s, "the exit takes more than one step");
  if (r.name != "fifo-enabling")
    if (const state_id s = find_not_full(*graph_, *depths_, *enabling_, program_.k()); s != no_state)
      return violated(r, s,
                      "the number of enabled processes is not that of the free permits, or of those in their entry");
  if (r.name != "l-full") fifo(r, waits_for::enabling);
}

void checking::finite_waiting(property_result& r) {
  const bool inside = r.name == "finite-waiting";
  by_lasso(r,
           find_endless_waiting(*graph_, *depths_, *enabling_, inside ? waits_for::inside : waits_for::enabling,
                                request_.crashes, watch_),
           inside ? "one stays in its entry while another gets inside again and again"
                  : "one is in its entry and never enabled while another gets inside again and again");
}

void checking::fifo(property_result& r, waits_for what) {
  const std::optional<overtaking> found = find_overtaking(*graph_, *depths_, *enabling_, what, watch_);
  if (!found) {
    if (!watch_.why().empty()) undecided(r, watch_.why());
    return;
  }
  lasso run;
  run.victim = found->victim;
  violated(r, found->from,
           fmt::format("process {} arrives and enters while process {} {}", found->overtaker, found->victim,
                       what == waits_for::inside ? "is in its entry" : "waits and is not enabled"),
           run);
  r.counterexample->schedule.insert(r.counterexample->schedule.end(), found->steps.begin(), found->steps.end());
}

}  // namespace kgate::lab
