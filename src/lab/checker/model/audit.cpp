// SPDX-License-Identifier: Apache-2.0
#include "lab/checker/model/audit.hpp"

#include <fmt/format.h>

#include <random>

#include "lab/checker/model/walker.hpp"

namespace kgate::lab {

namespace {

std::string difference(const program& p, int q, const local_state& automaton, const program::outcome& text) {
  if (text.finished) return fmt::format("process {} has finished its passage, its automaton is at {}", q, automaton.label);
  const checker_machine::pending& next = text.next;
  const auto name = [&](int v) { return v < 0 ? std::string("nothing") : p.variable(v).name; };
  if (next.op != automaton.op || next.variable != automaton.variable || next.where != automaton.where ||
      next.name != automaton.name || next.waiting != automaton.waiting || next.label != automaton.label)
    return fmt::format("process {} is about to {} {} at {}, its automaton to {} {} at {}", q, to_string(next.op), name(next.variable),
                       next.label, to_string(automaton.op), name(automaton.variable), automaton.label);
  return "";
}

}  // namespace

std::string audit(program& p, const audit_options& options) {
  std::mt19937_64 random(options.seed);
  for (int walk = 0; walk < options.walks; ++walk) {
    walker w(p);
    std::vector<std::vector<code>> histories(static_cast<std::size_t>(p.N()));  // of each process, in its passage
    for (int i = 0; i < options.steps; ++i) {
      std::vector<int> movable;
      for (int q = 0; q < p.N(); ++q)
        if (w.can_move(q)) movable.push_back(q);
      if (movable.empty()) break;
      const int q = movable[random() % movable.size()];
      std::vector<code>& history = histories[q];
      if (w.local(q).starts_passage) history.clear();
      const local_state before = w.local(q);
      if (std::string wrong = difference(p, q, before, p.run(q, history)); !wrong.empty()) return wrong;
      const code seen = before.variable < 0 ? 0 : w.value(before.variable);
      w.step(q);
      history.push_back(seen);
      const program::outcome after = p.run(q, history);
      if (after.last.blocked) return fmt::format("process {} is blocked at {}, its automaton moves on", q, before.label);
      const code written = after.last.written ? *after.last.written : seen;
      if (before.variable >= 0 && w.value(before.variable) != written)
        return fmt::format("process {} writes {} to {} at {}, its automaton {}", q, p.variable(before.variable).text(written),
                           p.variable(before.variable).name, before.label,
                           p.variable(before.variable).text(w.value(before.variable)));
      if (after.finished != w.local(q).starts_passage)
        return fmt::format("process {} and its automaton disagree whether the passage ends at {}", q, before.label);
    }
  }
  return "";
}

}  // namespace kgate::lab
