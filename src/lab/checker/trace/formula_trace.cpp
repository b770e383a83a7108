// SPDX-License-Identifier: Apache-2.0
#include "lab/checker/trace/formula_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace kgate::lab {

namespace {

process_set able(walker& w, int N) {
  process_set all = 0;
  for (int p = 0; p < N; ++p)
    if (w.outside(p) && w.can_move(p)) all |= only(p);
  return all;
}

}  // namespace

std::string judge_formula(const trace& t, const formula_property& wanted, program& p) {
  const temporal_formula formula(wanted.formula, p);
  process_set crashed = 0;
  for (const int q : t.crashed) crashed |= only(q);
  walker w(p);
  std::vector<std::uint64_t> valuations;
  const std::size_t loop = t.loop < 0 ? t.schedule.size() : static_cast<std::size_t>(t.loop);
  process_set stepping = 0, sometimes = 0, always = ~process_set{0};
  walker::position start;
  for (std::size_t i = 0; i <= t.schedule.size(); ++i) {
    if (i == loop) start = w.here();
    if (i == t.schedule.size() && loop < i) break;  // the same state as `start`, if the loop is one
    valuations.push_back(formula.valuation(walked_state(w), p, crashed));
    if (i >= loop) {
      sometimes |= able(w, p.N());
      always &= able(w, p.N());
    }
    if (i == t.schedule.size()) break;
    if (std::string wrong = cannot_step(t.schedule[i], w, i); !wrong.empty()) return wrong;
    const int mover = scheduled_process(t.schedule[i]);
    if (i >= loop && has(crashed, mover)) return fmt::format("step {}: process {} has crashed", i + 1, mover);
    if (i >= loop) stepping |= only(mover);
    w.step(mover, scheduled_choice(t.schedule[i]));
  }
  if (w.here() != start) return "the loop does not lead back to where it starts";
  const process_set owed = wanted.fairness == fairness_kind::none     ? 0
                           : wanted.fairness == fairness_kind::strong ? sometimes
                                                                      : always;
  for (int q = 0; q < p.N(); ++q)
    if (has(owed & ~crashed & ~stepping, q)) return fmt::format("the run is unfair to process {}", q);
  if (formula.true_of(valuations, std::min(loop, valuations.size() - 1))) return "the formula is true of this run";
  return "";
}

}  // namespace kgate::lab
