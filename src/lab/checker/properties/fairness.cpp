// SPDX-License-Identifier: Apache-2.0
#include "lab/checker/properties/fairness.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <mutex>
#include <span>
#include <unordered_set>

#include "kgate/detail/contracts.hpp"
#include "lab/checker/explore/parallel_for.hpp"
#include "lab/checker/graph/components.hpp"
#include "lab/checker/graph/local_analysis.hpp"
#include "lab/checker/graph/routes.hpp"
#include "lab/checker/properties/liveness.hpp"

namespace kgate::lab {

namespace {

/// Where each process is in the stored states.
class locations {
 public:
  explicit locations(const exploration& e) : table_(*e.table), store_(*e.store) {}

  const local_row& row(state_id s, int p) const {
    return table_.row(p, static_cast<local_id>(table_.packing().local[p].get(store_.record(s))));
  }
  bool in_remainder(state_id s, int p) const { return row(s, p).where == region::remainder; }
  bool past_doorway(state_id s, int p) const { return row(s, p).where == region::entry && row(s, p).waiting; }
  bool all_past_doorway(state_id s, process_set who) const {
    for (; who != 0; who &= who - 1)
      if (!past_doorway(s, std::countr_zero(who))) return false;
    return true;
  }

 private:
  const tables& table_;
  const state_store& store_;
};

/// Does `late` get inside, having started after all of `first` were past their doorways, with all of them still there?
struct order_question {
  process_set first;
  int late;
};

/// Answers one order question by a breadth-first search that knows how far from the initial state it is, so that the
/// first answer is a shortest one. overtakes(s, i, t) says whether step i from s to t is what `late` must not do, and
/// bad(t) whether the earlier ones are still worse off in t.
template <class Overtakes, class Bad>
class order_search {
 public:
  order_search(const exploration& e, const state_graph& g, const order_question& q, const Overtakes& overtakes,
               const Bad& bad)
      : explored_(e), graph_(g), where_(e), question_(q), overtakes_(overtakes), bad_(bad), met_(g.end(), false) {}

  /// A run of fewer than `length_max` steps. `over` ends the search.
  template <class Over>
  std::optional<unfair_run> run(std::size_t length_max, Over&& over) {
    for (std::size_t depth = 0; depth + 1 < length_max && !over(); ++depth) {
      const bool may_start = depth < explored_.levels.size();
      if (!may_start && layers_.back().empty()) break;
      layers_.emplace_back();
      if (depth > 0) {
        for (const state_id s : layers_[depth - 1])
          for (int i = 0; i < graph_.steps(); ++i)
            if (arrives(s, i)) return way_to(s, depth, {i});
      }
      if (may_start) {
        for (const id_range& r : explored_.levels[depth])
          for (state_id s = r.begin; s < r.end; ++s) {
            if (!starts(s)) continue;
            for (int i = graph_.first(question_.late); i < graph_.first(question_.late + 1); ++i)
              if (arrives(s, i)) return unfair_run{s, {i}, -1, question_.first, question_.late};
          }
      }
    }
    return std::nullopt;
  }

 private:
  bool starts(state_id s) const {
    return where_.in_remainder(s, question_.late) && graph_.next(s, graph_.first(question_.late)) != no_state &&
           where_.all_past_doorway(s, question_.first);
  }
  bool lasts(state_id t) const {
    return has(graph_.in_entry(t), question_.late) && where_.all_past_doorway(t, question_.first) && bad_(t);
  }
  /// Follows step i; true if it is the bad one.
  bool arrives(state_id s, int i) {
    const state_id t = graph_.next(s, i);
    if (t == no_state) return false;
    if (overtakes_(s, i, t)) return where_.all_past_doorway(t, question_.first) && bad_(t);
    if (!met_[t] && lasts(t)) {
      met_[t] = true;
      layers_.back().push_back(t);
    }
    return false;
  }

  /// The run that leads to s, which is in layers_[depth - 1], and goes on with `last`. What a layer was reached from,
  /// the layer before it or a start at its depth, is found by looking there.
  unfair_run way_to(state_id s, std::size_t depth, std::vector<int> last) const {
    bool started = false;
    while (!started) {
      --depth;
      started = true;
      if (depth > 0) {
        for (const state_id before : layers_[depth - 1]) {
          const int i = step_between(before, s, 0, graph_.steps());
          if (i < 0) continue;
          last.push_back(i);
          s = before;
          started = false;
          break;
        }
      }
      if (started) {
        const state_id start = start_before(s, depth);
        last.push_back(late_step_between(start, s));
        s = start;
      }
    }
    std::reverse(last.begin(), last.end());
    return {s, std::move(last), -1, question_.first, question_.late};
  }
  int step_between(state_id s, state_id t, int from, int to) const {
    for (int i = from; i < to; ++i)
      if (graph_.next(s, i) == t) return i;
    return -1;
  }
  int late_step_between(state_id s, state_id t) const {
    return step_between(s, t, graph_.first(question_.late), graph_.first(question_.late + 1));
  }
  state_id start_before(state_id t, std::size_t depth) const {
    for (const id_range& r : explored_.levels[depth])
      for (state_id s = r.begin; s < r.end; ++s)
        if (late_step_between(s, t) >= 0 && starts(s)) return s;
    KGATE_EXPECTS(false, "a state met in order has a start before it");
    return no_state;
  }

  const exploration& explored_;
  const state_graph& graph_;
  const locations where_;
  const order_question question_;
  const Overtakes& overtakes_;
  const Bad& bad_;
  std::vector<bool> met_;
  std::vector<std::vector<state_id>> layers_;  ///< what each depth's steps led to
};

/// Asks all questions and keeps the shortest run. bad(q, t) must hold in all states t of the run after the start.
template <class Overtakes, class Bad>
fairness_result ask(const exploration& e, const state_graph& g, const std::vector<order_question>& questions,
                    Overtakes&& overtakes, Bad&& bad, watch& w, int threads) {
  fairness_result result;
  std::mutex mutex;
  std::atomic<std::size_t> shortest{~std::size_t{0}};
  const depths depth(e);
  parallel_for(threads, questions.size(), [&](std::size_t i, bool reports) {
    if (reports) w.report("looking for overtakings", i, questions.size() - i, g.bytes());
    const auto bad_now = [&](state_id t) { return bad(questions[i], t); };
    const auto overtakes_now = [&](state_id s, int step, state_id t) { return overtakes(questions[i], s, step, t); };
    order_search search(e, g, questions[i], overtakes_now, bad_now);
    if (auto run = search.run(shortest, [&] { return w.over(0); })) {
      const std::scoped_lock lock(mutex);
      const std::size_t length = depth.of(run->from) + run->steps.size();
      if (length >= shortest) return;
      shortest = length;
      result.found = std::move(run);
    }
  });
  result.complete = w.why().empty();
  return result;
}

/// All ways to wait for one process while others get in, and how often. waits(s, p) says whether p waits in s.
template <class Waits>
class waiting_search {
 public:
  waiting_search(const exploration& e, const state_graph& g, const depths& d, Waits waits)
      : graph_(g),
        depths_(d),
        where_(e),
        waits_(waits),
        trips_(std::size_t{g.end()} * static_cast<std::size_t>(g.N()), 0) {}

  /// Adds what process p can suffer to the result; false if it was ended early.
  bool add(int p, waiting_result& result, watch& w) {
    const int N = graph_.N();
    const auto in = [&](state_id s) { return waits_(s, p); };
    components parts(graph_);
    return parts.for_each(
        in, [](state_id, int) { return true; },
        [&](std::span<const state_id> members, auto&& same) {
          std::array<std::uint8_t, graph_processes_max> most{};
          for (const state_id s : members)
            for (int i = 0; i < graph_.steps(); ++i) {
              const int q = graph_.owner(i);
              const state_id t = graph_.next(s, i);
              if (t == no_state) continue;
              const bool enters = q != p && graph_.enters(s, i);
              if (!in(t)) {
                if (enters) most[q] = std::max<std::uint8_t>(most[q], 1);
                continue;
              }
              if (enters && same(t)) return endless(p, q, members, result);
              if (same(t)) continue;
              for (int j = 0; j < N; ++j)
                most[j] = std::max<std::uint8_t>(
                    most[j], static_cast<std::uint8_t>(std::min(waiting_bound_max, trips(t, j) + (enters && j == q))));
            }
          for (const state_id s : members)
            for (int j = 0; j < N; ++j) {
              trips(s, j) = most[j];
              if (j != p && where_.in_remainder(s, j)) result.b = std::max<int>(result.b, most[j]);
            }
          return true;
        },
        w);
  }

 private:
  std::uint8_t& trips(state_id s, int j) {
    return trips_[std::size_t{s} * static_cast<std::size_t>(graph_.N()) + static_cast<std::size_t>(j)];
  }

  /// q gets in again and again inside a component in which p waits.
  bool endless(int p, int q, std::span<const state_id> members, waiting_result& result) const {
    const std::unordered_set<state_id> inside(members.begin(), members.end());
    const state_id from = *std::min_element(members.begin(), members.end(),
                                            [&](state_id a, state_id b) { return depths_.of(a) < depths_.of(b); });
    const auto within = [&](state_id, int, state_id t) { return inside.contains(t); };
    const auto never = [](auto...) { return false; };
    unfair_run run{from, {}, 0, only(p), q};
    state_id here = from;
    const auto follow = [&](const std::optional<route<state_id>>& way) {
      if (!way) return;
      run.steps.insert(run.steps.end(), way->steps.begin(), way->steps.end());
      here = way->end;
    };
    follow(shortest_route(graph_, here, within, never,
                          [&](state_id s, int i, state_id) { return graph_.owner(i) == q && graph_.enters(s, i); }));
    // Where p can step too, it does: then the run itself shows that it is not enabled.
    follow(
        shortest_route(graph_, here, within, never, [&](state_id, int i, state_id) { return graph_.owner(i) == p; }));
    follow(shortest_route(
        graph_, here, within, [&](state_id s) { return s == from; }, never));
    result.found = std::move(run);
    return false;
  }

  const state_graph& graph_;
  const depths& depths_;
  const locations where_;
  const Waits waits_;
  std::vector<std::uint8_t> trips_;  ///< how often j can still get in while p waits, once it has been in its remainder
};

/// Over all victims, until one waits for ever.
template <class Waits>
waiting_result longest_wait(exploration& e, const state_graph& g, const depths& d, Waits waits, watch& w) {
  waiting_result result;
  waiting_search search(e, g, d, waits);
  for (int p = 0; p < g.N() && result.complete && !result.found; ++p) {
    w.report("counting overtakings", static_cast<std::uint64_t>(p), static_cast<std::uint64_t>(g.N() - p), g.bytes());
    result.complete = search.add(p, result, w);
  }
  return result;
}

}  // namespace

namespace {

/// One process before another, for all pairs.
std::vector<order_question> pairs(const state_graph& g) {
  std::vector<order_question> all;
  for (int p = 0; p < g.N(); ++p)
    for (int q = 0; q < g.N(); ++q)
      if (p != q) all.push_back({only(p), q});
  return all;
}

/// `late` gets inside by step i.
auto entering(const state_graph& g) {
  return [&g](const order_question& q, state_id s, int i, state_id) { return g.owner(i) == q.late && g.enters(s, i); };
}

/// Asks of all pairs. Once enabled, the earlier one stays so: only ways on which it is kept out all along can end
/// badly. What is found goes on with a run that shows that it can be kept out for ever.
template <class Overtakes>
fairness_result ask_while_kept_out(exploration& e, const state_graph& g, const enabledness& who, Overtakes&& overtakes,
                                   watch& w, int threads) {
  fairness_result result = ask(
      e, g, pairs(g), overtakes, [&](const order_question& q, state_id t) { return (who.kept_out(t) & q.first) != 0; },
      w, threads);
  if (!result.found) return result;
  unfair_run& run = *result.found;
  state_id end = run.from;
  for (const int i : run.steps) end = g.next(end, i);
  const enabledness::endless_wait after = who.wait_of(end, std::countr_zero(run.overtaken), w);
  run.loop = static_cast<int>(run.steps.size() + after.loop);
  run.steps.insert(run.steps.end(), after.steps.begin(), after.steps.end());
  return result;
}

}  // namespace

fairness_result find_fife_violation(exploration& e, const state_graph& g, const enabledness& who, watch& w,
                                    int threads) {
  return ask_while_kept_out(e, g, who, entering(g), w, threads);
}

fairness_result find_enabled_out_of_order(exploration& e, const state_graph& g, const enabledness& who, watch& w,
                                          int threads) {
  const locations where(e);
  const auto enabled = [&](const order_question& q, state_id, int, state_id t) {
    return where.past_doorway(t, q.late) && !has(who.kept_out(t), q.late);
  };
  return ask_while_kept_out(e, g, who, enabled, w, threads);
}

fairness_result find_kfcfs_violation(exploration& e, const state_graph& g, watch& w, int threads) {
  const int k = e.table->source().k();
  std::vector<order_question> questions;
  for (const process_set first : sets_up_to(g.N(), k))
    for (int q = 0; q < g.N(); ++q)
      if (std::popcount(first) == k && !has(first, q)) questions.push_back({first, q});
  return ask(
      e, g, questions, entering(g), [](const order_question&, state_id) { return true; }, w, threads);
}

waiting_result find_waiting_bound(exploration& e, const state_graph& g, const depths& d, const enabledness& who,
                                  watch& w) {
  const bool doorway = doorways_of(e.table->source()) == doorways::marked;
  const locations where(e);
  return longest_wait(
      e, g, d, [&](state_id s, int p) { return has(who.kept_out(s), p) && (!doorway || where.past_doorway(s, p)); }, w);
}

waiting_result find_overtaking_bound(exploration& e, const state_graph& g, const depths& d, watch& w) {
  return longest_wait(
      e, g, d, [&](state_id s, int p) { return has(g.in_entry(s), p); }, w);
}

state_id find_endless_doorway(const exploration& e, const state_graph& g, int p, watch& w) {
  const locations where(e);
  const auto in = [&](state_id s) { return has(g.in_entry(s), p) && !where.past_doorway(s, p); };
  state_id found = no_state;
  components parts(g);
  parts.for_each(
      in, [](state_id, int) { return true; },
      [&](std::span<const state_id> members, auto&& same) {
        for (const state_id s : members)
          for (int i = g.first(p); i < g.first(p + 1); ++i)
            if (const state_id t = g.next(s, i); t != no_state && in(t) && same(t)) {
              found = s;
              return false;
            }
        return true;
      },
      w);
  return found;
}

std::uint64_t fairness_bytes(const state_graph& g, int threads) {
  const auto workers = static_cast<std::uint64_t>(std::clamp(threads, 1, g.N()));
  const auto N = static_cast<std::uint64_t>(g.N());
  return std::uint64_t{g.end()} * (sizeof(process_set) + workers * (sizeof(state_id) + 1) + N);
}

}  // namespace kgate::lab
