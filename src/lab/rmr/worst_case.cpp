// SPDX-License-Identifier: Apache-2.0
#include "lab/rmr/worst_case.hpp"

#include <algorithm>
#include <deque>
#include <limits>
#include <new>
#include <span>
#include <unordered_map>

#include "lab/checker/explore/explorer_impl.hpp"
#include "lab/checker/graph/components.hpp"

namespace kgate::lab {

namespace {

access_kind kind_of(const step& s, operation op) {
  if (op == operation::read || op == operation::await) return access_kind::read;
  return s.entry.writes() ? access_kind::write : access_kind::failed_swap;
}

/// Keeps what process `me` has in its cache in the extra bits of a state: per variable one bit (a copy), with
/// write-back two (a copy, an exclusive one). A blocked process that has no copy of what it waits for may fetch one: a
/// step of its own.
struct cache_observer {
  static constexpr bool active = true;

  const tables* table;
  cost_model cost;
  int me;

  bool two_bits() const { return cost.model == memory_model::cc_writeback; }
  copy get(const std::uint64_t* words, int v) const {
    if (!cost.caches()) return copy::none;
    const auto& extra = table->packing().extra;
    const int at = two_bits() ? 2 * v : v;
    if (extra[at].get(words) == 0) return copy::none;
    return two_bits() && extra[at + 1].get(words) != 0 ? copy::exclusive : copy::shared;
  }
  void set(std::uint64_t* words, int v, copy c) const {
    if (!cost.caches()) return;
    const auto& extra = table->packing().extra;
    const int at = two_bits() ? 2 * v : v;
    extra[at].set(words, c != copy::none);
    if (two_bits()) extra[at + 1].set(words, c == copy::exclusive);
  }
  operation op_of(const step& s, const std::uint64_t* from) const {
    return table->source().local(s.p, static_cast<local_id>(table->packing().local[s.p].get(from))).op;
  }
  void steps(std::uint64_t* to, const std::uint64_t* from, const step& s) const {
    if (!s.row.has_variable) return;
    const int v = s.row.variable_number;
    const access_kind kind = kind_of(s, op_of(s, from));
    set(to, v, s.p == me ? cost.after_own(get(to, v), kind) : cost.after_other(get(to, v), kind));
  }
  bool waits(std::uint64_t* to, const step& s) const {
    if (s.p != me || !cost.caches() || get(to, s.row.variable_number) != copy::none) return false;
    set(to, s.row.variable_number, copy::shared);
    return true;
  }
  /// What me's step costs.
  int price(const std::uint64_t* from, const step& s) const {
    if (!s.row.has_variable) return 0;
    const int v = s.row.variable_number;
    return cost.remote(get(from, v), kind_of(s, op_of(s, from)), pid(me), table->source().variable(v).home);
  }
};

/// The states with cache contents as a graph: step i < N is process i's, step N is the fetch of a waiting `me`.
class cached_graph {
 public:
  using vertex = state_id;
  static constexpr vertex nowhere = no_state;

  cached_graph(exploration& e, const cache_observer& o)
      : explored_(e), observer_(o), steps_(e.table->source().N() + 1) {
    const std::size_t end = e.store->end();
    next_.assign(end * static_cast<std::size_t>(steps_), no_state);
    valid_.assign(end, 0);
    outside_.assign(end, 0);
    price_.assign(end, 0);
    with_words(e.store->words(), [&]<unsigned W>() {
      for (const id_range& r : e.used())
        for (state_id s = r.begin; s < r.end; ++s) fill<W>(s);
    });
  }

  int N() const { return steps_; }
  int steps() const { return steps_; }
  state_id end() const { return static_cast<state_id>(valid_.size()); }
  bool valid(state_id s) const { return valid_[s] != 0; }
  state_id next(state_id s, int i) const { return next_[std::size_t{s} * steps_ + i]; }
  /// Is `me` outside its remainder?
  bool outside(state_id s) const { return outside_[s] != 0; }
  int price(state_id s, int i) const { return i == observer_.me ? price_[s] : i == steps_ - 1 ? 1 : 0; }
  /// `me` is blocked on a variable that is remote whenever it looks.
  bool spins_remotely() const { return spins_remotely_; }
  std::string label(state_id s) const {
    const auto& pack = explored_.table->packing();
    return explored_.table->source()
        .local(observer_.me, static_cast<local_id>(pack.local[observer_.me].get(explored_.store->record(s))))
        .label;
  }

 private:
  template <unsigned W>
  void fill(state_id s) {
    const std::uint64_t* from = explored_.store->record(s);
    valid_[s] = 1;
    const int me = observer_.me;
    outside_[s] =
        explored_.table->row(me, static_cast<local_id>(explored_.table->packing().local[me].get(from))).where !=
        region::remainder;
    for_each_step<W>(
        *explored_.table, observer_, explored_.contention, from,
        [&](const step& it, const std::uint64_t* to) {
          const bool fetch = it.entry.blocked();
          next_[std::size_t{s} * steps_ + (fetch ? steps_ - 1 : it.p)] = explored_.store->find<W>(to);
          if (it.p == me && !fetch) price_[s] = static_cast<std::uint8_t>(observer_.price(from, it));
        },
        [&](const step& it) {
          if (it.p == me && !observer_.cost.caches() &&
              explored_.table->source().variable(it.row.variable_number).home != pid(me))
            spins_remotely_ = true;
        });
  }

  exploration& explored_;
  const cache_observer& observer_;
  int steps_;
  bool spins_remotely_ = false;
  std::vector<state_id> next_;
  std::vector<std::uint8_t> valid_, outside_, price_;
};

/// The most that can still be paid in the passage, for every state in it.
class longest_paths {
 public:
  longest_paths(const cached_graph& g, watch& w) : graph_(g), togo_(g.end(), 0) {
    components<cached_graph> parts(g);
    complete_ = parts.for_each([&](state_id s) { return g.outside(s); }, [](state_id, int) { return true; },
                               [&](std::span<const state_id> members, auto&& same) {
                                 int most = 0;
                                 for (const state_id s : members)
                                   for (int i = 0; i < g.N(); ++i) {
                                     const state_id t = g.next(s, i);
                                     if (t == no_state) continue;
                                     if (g.outside(t) && same(t)) {
                                       unbounded_ |= g.price(s, i) > 0;
                                     } else {
                                       most = std::max(most, g.price(s, i) + (g.outside(t) ? togo_[t] : 0));
                                     }
                                   }
                                 for (const state_id s : members) togo_[s] = most;
                                 return !unbounded_;
                               },
                               w);
  }

  bool complete() const { return complete_; }
  bool unbounded() const { return unbounded_; }
  int of_step(state_id s, int i) const {
    const state_id t = graph_.next(s, i);
    return graph_.price(s, i) + (graph_.outside(t) ? togo_[t] : 0);
  }

  /// The labels of what is paid on a most expensive way from s on.
  std::vector<std::string> labels_from(state_id s, int first) const {
    std::vector<std::string> labels;
    if (graph_.price(s, first) > 0) labels.push_back(graph_.label(s));
    s = graph_.next(s, first);
    while (graph_.outside(s) && togo_[s] > 0) {
      const auto [payer, step_taken] = next_payment(s);
      labels.push_back(graph_.label(payer));
      s = graph_.next(payer, step_taken);
    }
    return labels;
  }

 private:
  /// From s, over free steps that lose nothing, to a step that pays on a most expensive way.
  std::pair<state_id, int> next_payment(state_id s) const {
    std::deque<state_id> queue{s};
    std::unordered_map<state_id, bool> seen{{s, true}};
    while (!queue.empty()) {
      const state_id at = queue.front();
      queue.pop_front();
      for (int i = 0; i < graph_.N(); ++i) {
        const state_id t = graph_.next(at, i);
        if (t == no_state || of_step(at, i) < togo_[s]) continue;
        if (graph_.price(at, i) > 0) return {at, i};
        if (graph_.outside(t) && seen.try_emplace(t, true).second) queue.push_back(t);
      }
    }
    return {s, 0};
  }

  const cached_graph& graph_;
  std::vector<int> togo_;
  bool complete_ = false;
  bool unbounded_ = false;
};

/// Looks at the passages of one process. False if a limit was hit.
bool search_passages(program& p, const cost_model& cost, int me, int contention, const run_limits& limits, watch& w,
                     rmr_result& best) {
  explore_options options;
  options.contention = contention;
  options.find_exclusion = options.find_names = false;
  const unsigned bits =
      !cost.caches() ? 0 : static_cast<unsigned>(p.variables()) * (cost.model == memory_model::cc_writeback ? 2 : 1);
  exploration e = explore<cache_observer>(p, options, limits, bits, [&](const tables& t) {
    return cache_observer{&t, cost, me};
  });
  best.states = std::max(best.states, e.states);
  if (!e.complete) {
    best.why = e.why;
    return false;
  }
  const std::uint64_t graph_bytes = e.states * (static_cast<std::uint64_t>(p.N()) + 1) * 4 + e.states * 12;
  if (e.store->bytes(e.states) + graph_bytes > limits.memory_max) {
    best.why = "memory limit reached";
    return false;
  }
  const cache_observer observer{e.table.get(), cost, me};
  const cached_graph g(e, observer);
  if (g.spins_remotely()) {
    best.unbounded = true;
    best.process = me;
    return true;
  }
  const longest_paths paths(g, w);
  if (paths.unbounded()) {
    best.unbounded = true;
    best.process = me;
    return true;
  }
  if (!paths.complete()) {
    best.why = w.why();
    return false;
  }
  for (state_id s = 0; s < g.end(); ++s) {
    if (!g.valid(s) || g.outside(s) || g.next(s, me) == no_state) continue;
    const int total = paths.of_step(s, me);
    if (best.process >= 0 && total <= best.worst) continue;
    best.worst = total;
    best.process = me;
    best.labels = paths.labels_from(s, me);
  }
  return true;
}

}  // namespace

rmr_result worst_rmr(program& p, const cost_model& cost, int contention, const run_limits& limits,
                     const std::vector<int>& processes) {
  watch w(limits);
  rmr_result best;
  best.complete = true;
  std::vector<int> all = processes;
  if (all.empty())
    for (int q = 0; q < p.N(); ++q) all.push_back(q);
  for (const int me : all) {
    try {
      best.complete = search_passages(p, cost, me, contention, limits, w, best);
    } catch (const std::bad_alloc&) {
      best.complete = false;
      best.why = "memory limit reached";
    }
    if (!best.complete || best.unbounded) break;
  }
  best.seconds = w.seconds();
  return best;
}

}  // namespace kgate::lab
