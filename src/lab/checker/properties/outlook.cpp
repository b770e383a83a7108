// SPDX-License-Identifier: Apache-2.0
#include "lab/checker/properties/outlook.hpp"

#include <algorithm>

namespace kgate::lab {

const char* to_string(outlook_of o) {
  switch (o) {
    case outlook_of::cannot_break:
      return "cannot break";
    case outlook_of::can_break:
      return "can break";
    case outlook_of::broken:
      return "broken";
  }
  return "?";
}

namespace {

bool crowded(const packed_state& s, int N, int k) {
  int inside = 0;
  for (int p = 0; p < N; ++p) inside += s.where(p) == region::critical ? 1 : 0;
  return inside > k;
}

bool names_clash(const packed_state& s, int N, int k) {
  for (int p = 0; p < N; ++p) {
    if (s.where(p) != region::critical) continue;
    if (s.name(p) >= k) return true;
    for (int q = 0; q < p; ++q)
      if (s.where(q) == region::critical && s.name(q) == s.name(p)) return true;
  }
  return false;
}

}  // namespace

outlook::outlook(exploration& e, const state_graph& g, watch& w) : graph_(g), watch_(w) {
  const program& p = e.table->source();
  std::vector<bool> over(g.end()), clash(g.end()), broken(g.end());
  bool names = false;
  for (state_id s = 0; s < g.end(); ++s) {
    if (!g.valid(s)) continue;
    const packed_state here(*e.table, e.store->record(s));
    over[s] = crowded(here, p.N(), p.k());
    clash[s] = names_clash(here, p.N(), p.k());
    broken[s] = p.has_invariant() && !p.broken_invariant(here).empty();
    for (int q = 0; q < p.N(); ++q) names = names || here.name(q) >= 0;
  }
  const auto judge = [&](const char* name, std::vector<bool> where) {
    properties_.emplace_back(name);
    false_at_.push_back(std::move(where));
  };
  judge("k-exclusion", std::move(over));
  if (names) judge("distinct-names", std::move(clash));
  if (p.has_invariant()) judge("invariant", std::move(broken));
  properties_.emplace_back("deadlock-free");
  properties_.emplace_back("starvation-free");
  first_before_.assign(std::size_t{g.end()} + 1, 0);
  const auto for_each_step = [&](auto&& f) {
    for (state_id s = 0; s < g.end(); ++s)
      for (int i = 0; g.valid(s) && i < g.steps(); ++i)
        if (const state_id t = g.next(s, i); t != no_state) f(s, i, t);
  };
  for_each_step([&](state_id, int, state_id t) { ++first_before_[std::size_t{t} + 1]; });
  for (std::size_t i = 1; i < first_before_.size(); ++i) first_before_[i] += first_before_[i - 1];
  before_.resize(first_before_.back());
  std::vector<std::size_t> used(first_before_);
  for_each_step([&](state_id s, int i, state_id t) { before_[used[t]++] = {s, g.owner(i)}; });
}

std::vector<bool> outlook::leading_to(std::vector<bool> there, process_set crashed) const {
  std::vector<state_id> front;
  for (state_id s = 0; s < there.size(); ++s)
    if (there[s]) front.push_back(s);
  while (!front.empty()) {
    const state_id t = front.back();
    front.pop_back();
    for (std::size_t i = first_before_[t]; i < first_before_[std::size_t{t} + 1]; ++i) {
      const auto [s, p] = before_[i];
      if (has(crashed, p) || there[s]) continue;
      there[s] = true;
      front.push_back(s);
    }
  }
  return there;
}

const outlook::future& outlook::with(process_set crashed) {
  const auto [entry, fresh] = futures_.try_emplace(crashed);
  future& f = entry->second;
  if (!fresh) return f;
  for (const std::vector<bool>& bad : false_at_) f.can_break.push_back(leading_to(bad, crashed));
  f.can_break.push_back(leading_to(states_of_deadlock(graph_, crashed, watch_), crashed));
  f.can_break.push_back(leading_to(states_of_starvation(graph_, crashed, watch_), crashed));
  for (int p = 0; p < graph_.N(); ++p) {
    std::vector<bool> enters(graph_.end());
    for (state_id s = 0; s < graph_.end(); ++s)
      enters[s] = graph_.valid(s) && !has(crashed, p) && has(graph_.enters(s), p);
    f.can_enter.push_back(leading_to(std::move(enters), crashed));
  }
  return f;
}

std::vector<outlook_of> outlook::at(state_id s, process_set crashed) {
  const future& f = with(crashed);
  std::vector<outlook_of> all;
  const auto say = [&](bool broken, bool can) {
    all.push_back(broken ? outlook_of::broken : can ? outlook_of::can_break : outlook_of::cannot_break);
  };
  for (std::size_t i = 0; i < false_at_.size(); ++i) say(false_at_[i][s], f.can_break[i][s]);
  const process_set waiting = graph_.in_entry(s) & ~crashed;
  bool nobody = waiting != 0, one_never = false;
  for (int p = 0; p < graph_.N(); ++p) {
    nobody = nobody && !f.can_enter[static_cast<std::size_t>(p)][s];
    one_never = one_never || (has(waiting, p) && !f.can_enter[static_cast<std::size_t>(p)][s]);
  }
  say(nobody, f.can_break[false_at_.size()][s]);
  say(one_never, f.can_break[false_at_.size() + 1][s]);
  return all;
}

}  // namespace kgate::lab
