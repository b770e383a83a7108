// SPDX-License-Identifier: Apache-2.0
#include "lab/checker/properties/formula_search.hpp"

#include <algorithm>
#include <bit>
#include <deque>
#include <span>
#include <utility>

#include "lab/checker/graph/components.hpp"
#include "lab/checker/graph/routes.hpp"
#include "lab/checker/properties/buchi.hpp"
#include "lab/checker/properties/liveness.hpp"

namespace kgate::lab {

namespace {

/// The states of a run beside those of an automaton. In every state the run may also stand still: fairness says whether
/// it may do so for ever.
class product_graph {
 public:
  using vertex = std::uint32_t;
  static constexpr vertex nowhere = no_state;

  product_graph(const state_graph& g, const buchi_automaton& a, const std::vector<std::uint64_t>& valuations)
      : graph_(g),
        automaton_(a),
        valuations_(valuations),
        Q_(static_cast<int>(a.states.size())),
        leads_(static_cast<std::size_t>(Q_) * static_cast<std::size_t>(Q_)) {
    for (int q = 0; q < Q_; ++q)
      for (const int r : a.states[static_cast<std::size_t>(q)].next) leads_[edge(q, r)] = true;
  }

  bool fits() const { return std::uint64_t{graph_.end()} * static_cast<std::uint64_t>(Q_) < no_state; }
  vertex end() const { return graph_.end() * static_cast<vertex>(Q_); }
  bool valid(vertex v) const { return graph_.valid(state(v)); }
  int steps() const { return (graph_.steps() + 1) * Q_; }
  int N() const { return graph_.N(); }

  state_id state(vertex v) const { return v / static_cast<vertex>(Q_); }
  const buchi_automaton::state& of_automaton(vertex v) const { return automaton_.states[v % static_cast<vertex>(Q_)]; }
  vertex at(state_id s, int q) const { return s * static_cast<vertex>(Q_) + static_cast<vertex>(q); }
  bool agrees(state_id s, int q) const { return automaton_.states[static_cast<std::size_t>(q)].agrees(valuations_[s]); }

  /// The step of the graph that step i is; -1 if the run stands still.
  int real_step(int i) const { return i / Q_ < graph_.steps() ? i / Q_ : -1; }
  bool is_step_of(int i, int p) const { return real_step(i) >= 0 && graph_.owner(real_step(i)) == p; }
  bool is_step_of_any(int i, process_set of) const { return real_step(i) >= 0 && has(of, graph_.owner(real_step(i))); }
  process_set obliged(vertex v) const { return graph_.obliged(state(v)); }

  vertex next(vertex v, int i) const {
    const int q = static_cast<int>(v % static_cast<vertex>(Q_)), r = i % Q_;
    if (!leads_[edge(q, r)]) return nowhere;
    const state_id t = real_step(i) < 0 ? state(v) : graph_.next(state(v), real_step(i));
    return t == no_state || !agrees(t, r) ? nowhere : at(t, r);
  }

 private:
  std::size_t edge(int q, int r) const {
    return static_cast<std::size_t>(q) * static_cast<std::size_t>(Q_) + static_cast<std::size_t>(r);
  }

  const state_graph& graph_;
  const buchi_automaton& automaton_;
  const std::vector<std::uint64_t>& valuations_;
  int Q_;
  std::vector<bool> leads_;
};

/// One search: for one automaton and one set of crashed processes.
class violation_search {
 public:
  using vertex = product_graph::vertex;

  violation_search(const product_graph& g, int acceptance_sets, fairness_kind fairness, process_set crashed)
      : graph_(g), acceptance_sets_(acceptance_sets), fairness_(fairness), crashed_(crashed) {}

  /// False if `w` ended it.
  bool run(state_id first, int automaton_states, watch& w) {
    reach(first, automaton_states, w);
    if (w.over(0)) return false;
    return judge_parts(reached_, w);
  }

  bool found() const { return entry_ != product_graph::nowhere; }
  std::uint32_t depth() const { return came_[entry_].depth; }

  violating_run violation() const {
    violating_run run;
    run.crashed = crashed_;
    for (const int i : way_to(entry_)) append(run.steps, i);
    for (const int i : cycle()) append(run.cycle, i);
    return run;
  }

 private:
  static constexpr std::uint32_t everything = ~std::uint32_t{0};
  struct came {
    vertex from;
    int step;
    std::uint32_t depth = 0;
  };

  void append(std::vector<int>& to, int i) const {
    if (graph_.real_step(i) >= 0) to.push_back(graph_.real_step(i));
  }

  /// Breadth first, so that the way kept to a vertex is a shortest one.
  void reach(state_id first, int automaton_states, watch& w) {
    reached_.assign(graph_.end(), false);
    came_.assign(graph_.end(), came{product_graph::nowhere, -1});
    std::deque<vertex> queue;
    const auto meet = [&](vertex v, came from) {
      if (reached_[v]) return;
      reached_[v] = true;
      came_[v] = from;
      came_[v].depth = from.from == product_graph::nowhere ? 0 : came_[from.from].depth + 1;
      queue.push_back(v);
    };
    for (int q = 0; q < automaton_states; ++q)
      if (graph_.of_automaton(graph_.at(first, q)).initial && graph_.agrees(first, q))
        meet(graph_.at(first, q), came{product_graph::nowhere, -1});
    for (std::size_t count = 0; !queue.empty(); ++count) {
      if (count % 4096 == 0 && w.over(0)) return;
      const vertex v = queue.front();
      queue.pop_front();
      for (int i = 0; i < graph_.steps(); ++i)
        if (const vertex t = graph_.next(v, i); t != product_graph::nowhere) meet(t, {v, i});
    }
  }

  std::vector<int> way_to(vertex v) const {
    std::vector<int> steps;
    for (; came_[v].from != product_graph::nowhere; v = came_[v].from) steps.push_back(came_[v].step);
    std::reverse(steps.begin(), steps.end());
    return steps;
  }

  bool judge_parts(const std::vector<bool>& in, watch& w) {
    std::vector<std::vector<vertex>> smaller;
    components<product_graph> parts(graph_);
    const bool finished = parts.for_each([&](vertex v) { return in[v]; },
                                         [&](vertex, int i) { return !graph_.is_step_of_any(i, crashed_); },
                                         [&](std::span<const vertex> members, auto&& same) {
                                           if (auto rest = judge(members, same); !rest.empty())
                                             smaller.push_back(std::move(rest));
                                           return true;
                                         },
                                         w);
    if (!finished) return false;
    for (const std::vector<vertex>& members : smaller) {
      std::vector<bool> part(graph_.end(), false);
      for (const vertex v : members) part[v] = true;
      if (!judge_parts(part, w)) return false;
    }
    return true;
  }

  /// Keeps the component if a fair accepted run goes round it for ever. Returns the part of it that may carry a
  /// strongly fair one if the whole does not.
  template <class Same>
  std::vector<vertex> judge(std::span<const vertex> members, Same&& same) {
    std::uint32_t accepting = 0;
    process_set stepping = 0, able = 0, always_able = ~process_set{0};
    bool goes_on = false;
    for (const vertex v : members) {
      accepting |= graph_.of_automaton(v).accepting;
      able |= graph_.obliged(v);
      always_able &= graph_.obliged(v);
      for (int i = 0; i < graph_.steps(); ++i) {
        const vertex t = graph_.next(v, i);
        if (t == product_graph::nowhere || graph_.is_step_of_any(i, crashed_) || !same(t)) continue;
        goes_on = true;
        if (graph_.real_step(i) >= 0) stepping |= owner_of(i);
      }
    }
    if (!goes_on || accepting != (acceptance_sets_ == 32 ? everything : (std::uint32_t{1} << acceptance_sets_) - 1))
      return {};
    if (fairness_ != fairness_kind::none && (always_able & ~crashed_ & ~stepping) != 0) return {};
    const process_set wronged = fairness_ == fairness_kind::strong ? able & ~crashed_ & ~stepping : 0;
    if (wronged != 0) {
      std::vector<vertex> rest;
      for (const vertex v : members)
        if ((graph_.obliged(v) & wronged) == 0) rest.push_back(v);
      return rest;
    }
    const vertex nearest = *std::min_element(members.begin(), members.end(),
                                             [&](vertex a, vertex b) { return came_[a].depth < came_[b].depth; });
    if (found() && came_[nearest].depth >= came_[entry_].depth) return {};
    entry_ = nearest;
    stepping_ = stepping;
    members_.assign(members.begin(), members.end());
    std::sort(members_.begin(), members_.end());
    return {};
  }
  process_set owner_of(int i) const {
    for (int p = 0; p < graph_.N(); ++p)
      if (graph_.is_step_of(i, p)) return only(p);
    return 0;
  }

  /// Round the component from `entry_`: through every acceptance set, past or over every process that is owed a step.
  std::vector<int> cycle() const {
    std::vector<int> steps;
    vertex here = entry_;
    std::uint32_t accepted = graph_.of_automaton(here).accepting;
    process_set settled = crashed_ | ~graph_.obliged(here);
    if (fairness_ == fairness_kind::none) settled = ~process_set{0};
    if (fairness_ == fairness_kind::strong) settled = ~stepping_;
    const auto within = [&](vertex, int i, vertex t) {
      return !graph_.is_step_of_any(i, crashed_) && std::binary_search(members_.begin(), members_.end(), t);
    };
    const auto never = [](auto...) { return false; };
    const auto follow = [&](const auto& way) {
      if (!way) return;
      for (const int i : way->steps) {
        steps.push_back(i);
        here = graph_.next(here, i);
        accepted |= graph_.of_automaton(here).accepting;
        settled |= owner_of(i);
        if (fairness_ == fairness_kind::weak) settled |= ~graph_.obliged(here);
      }
    };
    for (int set = 0; set < acceptance_sets_; ++set)
      if ((accepted >> set & 1) == 0)
        follow(shortest_route(
            graph_, here, within, [&](vertex v) { return (graph_.of_automaton(v).accepting >> set & 1) != 0; }, never));
    for (int p = 0; p < graph_.N(); ++p) {
      if (has(settled, p)) continue;
      follow(has(stepping_, p)
                 ? shortest_route(graph_, here, within, never,
                                  [&](vertex, int i, vertex) { return graph_.is_step_of(i, p); })
                 : shortest_route(
                       graph_, here, within, [&](vertex v) { return !has(graph_.obliged(v), p); }, never));
    }
    if (steps.empty()) follow(shortest_route(graph_, here, within, never, [](auto...) { return true; }));
    follow(shortest_route(
        graph_, here, within, [&](vertex v) { return v == entry_; }, never));
    return steps;
  }

  const product_graph& graph_;
  int acceptance_sets_;
  fairness_kind fairness_;
  process_set crashed_;
  std::vector<bool> reached_;
  std::vector<came> came_;
  vertex entry_ = product_graph::nowhere;
  process_set stepping_ = 0;
  std::vector<vertex> members_;  ///< of the component found, in order
};

}  // namespace

formula_result find_violation(exploration& e, const state_graph& g, const temporal_formula& f, fairness_kind fairness,
                              int crashes, const run_limits& limits, watch& w) {
  formula_result result;
  std::uint32_t best = 0;
  const state_id first = e.levels.front().front().begin;
  for (const temporal_formula& wrong : f.violations()) {
    const buchi_automaton automaton = to_buchi(wrong);
    if (automaton.states.empty()) continue;
    for (const process_set crashed : sets_up_to(g.N(), crashes)) {
      std::vector<std::uint64_t> valuations(g.end(), 0);
      for (state_id s = 0; s < g.end(); ++s)
        if (g.valid(s))
          valuations[s] = wrong.valuation(packed_state(*e.table, e.store->record(s)), e.table->source(), crashed);
      const product_graph product(g, automaton, valuations);
      const std::uint64_t bytes =
          e.store->bytes(e.states) + g.bytes() + std::uint64_t{g.end()} * (8 + automaton.states.size() * 17);
      if (!product.fits() || bytes > limits.memory_max) w.end("memory limit reached");
      violation_search search(product, automaton.acceptance_sets, fairness, crashed);
      if (!w.why().empty() || !search.run(first, static_cast<int>(automaton.states.size()), w)) {
        result.complete = false;
        return result;
      }
      if (!search.found() || (result.found && search.depth() >= best)) continue;
      best = search.depth();
      result.found = search.violation();
    }
  }
  return result;
}

}  // namespace kgate::lab
