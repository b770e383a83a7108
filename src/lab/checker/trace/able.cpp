// SPDX-License-Identifier: Apache-2.0
#include "lab/checker/trace/able.hpp"

#include <algorithm>
#include <deque>
#include <string>
#include <unordered_set>
#include <utility>

namespace kgate::lab {

namespace {

using position = walker::position;

const local_state& local_of(const program& of, const position& at, int p) {
  return of.local(p, at.locals[static_cast<std::size_t>(p)]);
}

transition transition_of(program& of, const position& at, int p) {
  const int v = local_of(of, at, p).variable;
  return of.step(p, at.locals[static_cast<std::size_t>(p)], v < 0 ? 0 : at.values[static_cast<std::size_t>(v)]);
}

/// Where p's step leads; false if it has none.
bool move(program& of, position& at, int p) {
  const local_state& here = local_of(of, at, p);
  if (here.done) return false;
  const transition t = transition_of(of, at, p);
  if (t.blocked) return false;
  if (t.writes) at.values[static_cast<std::size_t>(here.variable)] = t.written;
  at.locals[static_cast<std::size_t>(p)] = t.next;
  return true;
}

bool able_at(program& of, const position& at, int p) {
  if (local_of(of, at, p).where != region::entry) return false;
  const transition t = transition_of(of, at, p);
  return !t.blocked && of.local(p, t.next).where == region::critical;
}

std::string key_of(const position& at, int steps = 0) {
  std::string key(reinterpret_cast<const char*>(at.values.data()), at.values.size() * sizeof(code));
  key.append(reinterpret_cast<const char*>(at.locals.data()), at.locals.size() * sizeof(local_id));
  return key.append(reinterpret_cast<const char*>(&steps), sizeof steps);
}

}  // namespace

int position_in_run::count(region where) const {
  int all = 0;
  for (int p = 0; p < program_.N(); ++p) all += local_of(program_, at_, p).where == where ? 1 : 0;
  return all;
}

bool position_in_run::able(int p) { return able_at(program_, at_, p); }

bool position_in_run::shown_not_enabled(int p, std::size_t positions_max) {
  std::unordered_set<std::string> met{key_of(at_)};
  std::deque<position> open{at_};
  while (!open.empty()) {
    const position here = std::move(open.front());
    open.pop_front();
    if (!able_at(program_, here, p)) return true;
    for (int q = 0; q < program_.N() && met.size() < positions_max; ++q) {
      position to = here;
      if (q != p && move(program_, to, q) && met.insert(key_of(to)).second) open.push_back(std::move(to));
    }
  }
  return false;
}

bool position_in_run::shown_to_enter(int p, std::size_t positions_max) {
  constexpr int own_steps_max = 64;
  std::unordered_set<std::string> met{key_of(at_)};
  std::deque<std::pair<position, int>> open{{at_, 0}};
  while (!open.empty()) {
    const auto [here, steps] = std::move(open.front());
    open.pop_front();
    for (int q = 0; q < program_.N(); ++q) {
      position to = here;
      const bool moves = move(program_, to, q);
      if (q == p && (!moves || steps == own_steps_max)) return false;
      if (!moves || local_of(program_, to, p).where != region::entry) continue;
      const int now = steps + (q == p ? 1 : 0);
      if (!met.insert(key_of(to, now)).second) continue;
      if (met.size() > positions_max) return false;
      open.emplace_back(std::move(to), now);
    }
  }
  return true;
}

bool position_in_run::shown_to_come_back(int p, std::size_t positions_max) {
  const local_id from = at_.locals[static_cast<std::size_t>(p)];
  const region where = local_of(program_, at_, p).where;
  std::unordered_set<std::string> met;
  std::deque<position> open{at_};
  while (!open.empty()) {
    const position here = std::move(open.front());
    open.pop_front();
    for (int q = 0; q < program_.N() && met.size() < positions_max; ++q) {
      position to = here;
      if (!move(program_, to, q) || local_of(program_, to, p).where != where) continue;
      if (q == p && to.locals[static_cast<std::size_t>(p)] == from) return true;
      if (met.insert(key_of(to)).second) open.push_back(std::move(to));
    }
  }
  return false;
}

int position_in_run::enabled_max(std::size_t positions_max) {
  int most = 0;
  for (int p = 0; p < program_.N(); ++p) most += able(p) && !shown_not_enabled(p, positions_max) ? 1 : 0;
  return most;
}

int position_in_run::enabled_wanted() const { return std::max(0, std::min(program_.k() - inside(), trying())); }

}  // namespace kgate::lab
