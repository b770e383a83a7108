// SPDX-License-Identifier: Apache-2.0
#include "lab/checker/walker.hpp"

#include "kgate/core/contracts.hpp"

namespace kgate::lab {

const char* to_string(region r) {
  switch (r) {
    case region::remainder: return "remainder";
    case region::entry: return "entry";
    case region::critical: return "critical";
    case region::exit: return "exit";
  }
  return "?";
}

bool walker::can_move(int p) { return !local(p).done && !program_.step(p, locals_[p], seen(p)).blocked; }

step_record walker::step(int p) {
  const local_state& at = local(p);
  KGATE_EXPECTS(!at.done, "a step of a process that has made all its passages");
  const code before = seen(p);
  const transition t = program_.step(p, locals_[p], before);
  KGATE_EXPECTS(!t.blocked, "a step of a blocked process");
  step_record r;
  r.process = p;
  r.label = at.label;
  r.op = at.op;
  r.before = at.where;
  if (at.variable >= 0) {
    const shared_variable& v = program_.variable(at.variable);
    r.variable = v.name;
    r.observed = v.text(before);
    if (t.writes) {
      r.written = v.text(t.written);
      values_[at.variable] = t.written;
    }
  }
  locals_[p] = t.next;
  r.after = local(p).where;
  return r;
}

}  // namespace kgate::lab
