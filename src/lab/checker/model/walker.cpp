// SPDX-License-Identifier: Apache-2.0
#include "lab/checker/model/walker.hpp"

#include <fmt/format.h>

#include "kgate/detail/contracts.hpp"

namespace kgate::lab {

const char* to_string(region r) {
  switch (r) {
    case region::remainder:
      return "remainder";
    case region::entry:
      return "entry";
    case region::critical:
      return "critical";
    case region::exit:
      return "exit";
  }
  return "?";
}

bool walker::can_move(int p, int choice) {
  return !local(p).done && !program_.step(p, locals_[p], seen(p, choice)).blocked;
}

std::string cannot_step(int entry, walker& w, std::size_t i) {
  const int p = scheduled_process(entry);
  if (scheduled_choice(entry) == death_choice)
    return w.may_die(p) ? "" : fmt::format("step {}: process {} cannot die there", i + 1, p);
  if (w.local(p).done) return fmt::format("step {}: process {} cannot move", i + 1, p);
  if (scheduled_choice(entry) >= w.choices(p))
    return fmt::format("step {}: process {} has no choice {} there", i + 1, p, scheduled_choice(entry));
  if (!w.can_move(p, scheduled_choice(entry))) return fmt::format("step {}: process {} cannot move", i + 1, p);
  return "";
}

bool walker::reads_during_write(int p) const {
  const local_state& at = local(p);
  return at.op == operation::read && program_.variable(at.variable).safe() &&
         values_[at.variable] == program_.variable(at.variable).unstable;
}

int walker::choices(int p) const {
  return reads_during_write(p) ? static_cast<int>(program_.variable(local(p).variable).domain.size()) : local(p).ways;
}

code walker::seen(int p, int choice) const {
  if (local(p).variable < 0) return 0;
  return reads_during_write(p) ? program_.variable(local(p).variable).domain[choice]
                               : seen_by_way(values_[local(p).variable], local(p).ways > 1 ? choice : 0);
}

bool walker::may_die(int p) const {
  if (!program_.mortal() || local(p).done) return false;
  int dead = 0;
  for (const local_id s : locals_) dead += s == program::dead ? 1 : 0;
  return dead < program_.options().deaths_max;
}

step_record walker::die(int p) {
  KGATE_EXPECTS(may_die(p), "a death that cannot be");
  step_record r;
  r.process = p;
  r.label = "dies";
  r.before = local(p).where;
  code& value = values_[static_cast<std::size_t>(program_.death_variable())];
  const shared_variable& v = program_.variable(program_.death_variable());
  r.variable = v.name;
  r.observed = v.text(value);
  value = program_.after_death(p, value);
  r.written = v.text(value);
  locals_[p] = program::dead;
  r.after = region::remainder;
  return r;
}

step_record walker::step(int p, int choice) {
  if (choice == death_choice) return die(p);
  const local_state& at = local(p);
  KGATE_EXPECTS(!at.done, "a step of a process that has made all its passages");
  KGATE_EXPECTS(choice >= 0 && choice < choices(p), "a step the process does not have");
  const bool during_write = reads_during_write(p);
  const code before = seen(p, choice);
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
    r.observed = v.text(value_seen(before)) + (during_write ? ", during a write" : "");
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
