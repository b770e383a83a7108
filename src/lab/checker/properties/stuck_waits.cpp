// SPDX-License-Identifier: Apache-2.0
#include "lab/checker/properties/stuck_waits.hpp"

#include <set>
#include <utility>

namespace kgate::lab {

state_id find_stuck_wait(exploration& e, int crashes) {
  program& p = e.table->source();
  const layout& pack = e.table->packing();
  for (const id_range& r : e.used())
    for (state_id s = r.begin; s < r.end; ++s) {
      const std::uint64_t* words = e.store->record(s);
      int waiting = 0;
      int movers = 0;
      for (int q = 0; q < p.N() && movers <= crashes; ++q) {
        const auto at = static_cast<local_id>(pack.local[static_cast<std::size_t>(q)].get(words));
        if (p.local(q, at).where == region::remainder) continue;
        const int round = stuck_round(
            p, q, at, [&](int v) { return static_cast<code>(pack.variable[static_cast<std::size_t>(v)].get(words)); });
        ++(round != 0 ? waiting : movers);
      }
      if (waiting > 0 && movers <= crashes) return s;
    }
  return no_state;
}

bool writes_in_entry_loop(const program& p) {
  for (int process = 0; process < p.N(); ++process) {
    std::vector<std::vector<local_id>> next(p.locals(process));
    std::set<std::pair<local_id, local_id>> writing;
    p.for_each_step(process, [&](local_id s, code, const transition& t) {
      if (t.blocked || p.local(process, s).where != region::entry || p.local(process, t.next).where != region::entry)
        return;
      next[s].push_back(t.next);
      if (t.writes) writing.emplace(s, t.next);
    });
    for (const auto& [from, to] : writing) {
      std::vector<bool> met(next.size(), false);
      std::vector<local_id> open{to};
      met[to] = true;
      while (!open.empty()) {
        const local_id s = open.back();
        open.pop_back();
        if (s == from) return true;
        for (const local_id t : next[s])
          if (!met[t]) {
            met[t] = true;
            open.push_back(t);
          }
      }
    }
  }
  return false;
}

trace stuck_wait(program& p, const program_name& of, const std::string& property, std::vector<int> schedule) {
  walker w(p);
  for (const int entry : schedule) w.step(scheduled_process(entry), scheduled_choice(entry));
  trace t;
  t.of = of;
  t.property = property;
  t.schedule = std::move(schedule);
  t.loop = static_cast<int>(t.schedule.size());
  const walker::position end = w.here();
  for (int q = 0; q < p.N(); ++q) {
    if (!w.outside(q)) continue;
    int round = stuck_round(p, q, end.locals[static_cast<std::size_t>(q)],
                            [&](int v) { return end.values[static_cast<std::size_t>(v)]; });
    if (round == 0) {
      if (property != "kl-deadlock-free" || w.local(q).where != region::critical) t.crashed.push_back(q);
      continue;
    }
    if (t.victim < 0) t.victim = q;
    for (; round > 0; --round) t.schedule.push_back(q);
  }
  t.what = property == "kl-deadlock-free"
               ? "nobody changes regions any more although a permit is neither taken nor allocated"
               : "process " + std::to_string(t.victim) + " stays in its entry for ever";
  if (property != "starvation-free") t.victim = -1;
  return t;
}

}  // namespace kgate::lab
