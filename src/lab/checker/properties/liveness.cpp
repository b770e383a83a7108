// SPDX-License-Identifier: Apache-2.0
#include "lab/checker/properties/liveness.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <mutex>
#include <span>
#include <unordered_set>

#include "lab/checker/explore/parallel_for.hpp"
#include "lab/checker/graph/components.hpp"
#include "lab/checker/graph/fair_cycle.hpp"
#include "lab/checker/properties/outlook.hpp"

namespace kgate::lab {

namespace {

/// One question: which part of the graph, which processes have crashed, what a component needs to be bad.
struct question {
  process_set crashed = 0;
  int victim = -1;
  enum class kind { starvation, deadlock, endless_exit } what = kind::starvation;

  bool in(const state_graph& g, state_id s) const {
    switch (what) {
      case kind::starvation:
        return has(g.may_stay(s), victim);
      case kind::endless_exit:
        return has(g.in_exit(s), victim);
      case kind::deadlock:
        return (g.in_entry(s) & ~crashed) != 0;
    }
    return false;
  }
  /// Step i of s, which exists.
  bool follows(const state_graph& g, state_id s, int i) const {
    if (has(crashed, g.owner(i))) return false;
    return what != kind::deadlock || !g.enters(s, i);
  }
  process_set owed(int N) const {
    const process_set all = N == 32 ? ~process_set{0} : only(N) - 1;
    return all & ~crashed;
  }
  /// Given which processes step inside a component and which are obliged throughout it.
  bool bad(int N, process_set stepping, process_set always_obliged) const {
    if (what == kind::endless_exit) return has(stepping, victim);
    return (always_obliged & owed(N) & ~stepping) == 0;
  }
};

struct component_facts {
  process_set stepping = 0;
  process_set always_obliged = ~process_set{0};
};

template <class Same>
component_facts facts_of(const state_graph& g, const question& q, std::span<const state_id> members, Same&& same) {
  component_facts f;
  for (const state_id s : members) {
    f.always_obliged &= g.obliged(s);
    for (int i = 0; i < g.steps(); ++i) {
      const int p = g.owner(i);
      const state_id t = g.next(s, i);
      if (t == no_state || has(f.stepping, p) || !q.follows(g, s, i)) continue;
      if (same(t) && q.in(g, t)) f.stepping |= only(p);
    }
  }
  return f;
}

std::vector<int> cycle_through(const state_graph& g, const question& q, state_id entry,
                               const std::unordered_set<state_id>& members, process_set stepping) {
  const auto within = [&](state_id s, int i, state_id t) { return q.follows(g, s, i) && members.contains(t); };
  const process_set victim = q.victim < 0 ? 0 : only(q.victim);
  if (q.what == question::kind::endless_exit) return fair_cycle(g, entry, within, victim, victim, stepping);
  return fair_cycle(g, entry, within, q.owed(g.N()), 0, stepping);
}

/// Whether one state without a step to itself is settled: some process owes a step there, and the step leads out of the
/// state.
bool passes_through(const state_graph& g, const question& q, state_id s) {
  bool loops = false;
  for (int each = 0; each < g.steps(); ++each) loops |= g.next(s, each) == s && q.follows(g, s, each);
  return !loops && (g.obliged(s) & q.owed(g.N())) != 0;
}

/// Asks all questions, sharing them out among the threads; of the bad components found keeps the one nearest to the
/// start.
liveness_result ask(const state_graph& g, const depths& d, const std::vector<question>& questions, watch& w,
                    int threads) {
  struct candidate {
    std::uint32_t depth;
    question q;
    state_id entry;
    std::unordered_set<state_id> members;
    process_set stepping;
  };
  std::optional<candidate> best;
  std::mutex mutex;
  std::atomic<std::size_t> cursor{0};
  std::atomic<bool> complete{true};
  const auto work = [&](bool reports) {
    components<state_graph> parts(g);
    for (std::size_t i = cursor.fetch_add(1); i < questions.size(); i = cursor.fetch_add(1)) {
      const question& q = questions[i];
      if (reports) w.report("looking for cycles", i, questions.size() - i, g.bytes());
      const bool finished = parts.for_each(
          [&](state_id s) { return q.in(g, s); }, [&](state_id s, int each) { return q.follows(g, s, each); },
          [&](std::span<const state_id> members, auto&& same) {
            // Most components are one state in which some process can move: settled without a second look.
            if (members.size() == 1 && q.what != question::kind::endless_exit && passes_through(g, q, members[0]))
              return true;
            const component_facts f = facts_of(g, q, members, same);
            if (!q.bad(g.N(), f.stepping, f.always_obliged)) return true;
            candidate c{~0U, q, no_state, {}, f.stepping};
            for (const state_id s : members)
              if (const std::uint32_t depth = d.of(s); depth < c.depth) {
                c.depth = depth;
                c.entry = s;
              }
            const std::scoped_lock lock(mutex);
            if (!best || c.depth < best->depth) {
              c.members.insert(members.begin(), members.end());
              best = std::move(c);
            }
            return true;
          },
          w);
      if (!finished) {
        complete = false;
        return;
      }
    }
  };
  const std::size_t workers = std::min(questions.size(), static_cast<std::size_t>(std::max(1, threads)));
  parallel_for(threads, workers, [&](std::size_t, bool reports) { work(reports); });
  liveness_result result;
  result.complete = complete;
  if (best)
    result.found = lasso{best->entry, cycle_through(g, best->q, best->entry, best->members, best->stepping),
                         best->q.victim, best->q.crashed};
  return result;
}

void mark_bad(const state_graph& g, const question& q, watch& w, std::vector<bool>& marked) {
  components<state_graph>(g).for_each([&](state_id s) { return q.in(g, s); },
                                      [&](state_id s, int each) { return q.follows(g, s, each); },
                                      [&](std::span<const state_id> members, auto&& same) {
                                        if (members.size() == 1 && passes_through(g, q, members[0])) return true;
                                        const component_facts f = facts_of(g, q, members, same);
                                        if (q.bad(g.N(), f.stepping, f.always_obliged))
                                          for (const state_id s : members) marked[s] = true;
                                        return true;
                                      },
                                      w);
}

}  // namespace

std::vector<bool> states_of_deadlock(const state_graph& g, process_set crashed, watch& w) {
  std::vector<bool> marked(g.end(), false);
  mark_bad(g, {crashed, -1, question::kind::deadlock}, w, marked);
  return marked;
}

std::vector<bool> states_of_starvation(const state_graph& g, process_set crashed, watch& w) {
  std::vector<bool> marked(g.end(), false);
  for (int p = 0; p < g.N(); ++p)
    if (!has(crashed, p)) mark_bad(g, {crashed, p, question::kind::starvation}, w, marked);
  return marked;
}

std::vector<process_set> sets_up_to(int N, int size) {
  std::vector<process_set> sets;
  for (std::uint64_t s = 0; s < (std::uint64_t{1} << N); ++s)
    if (std::popcount(s) <= size) sets.push_back(static_cast<process_set>(s));
  return sets;
}

liveness_result find_starvation(const state_graph& g, const depths& d, int crashes, watch& w, int threads) {
  std::vector<question> questions;
  for (const process_set crashed : sets_up_to(g.N(), crashes))
    for (int p = 0; p < g.N(); ++p)
      if (!has(crashed, p)) questions.push_back({crashed, p, question::kind::starvation});
  return ask(g, d, questions, w, threads);
}

liveness_result find_deadlock(const state_graph& g, const depths& d, int crashes, watch& w, int threads) {
  std::vector<question> questions;
  for (const process_set crashed : sets_up_to(g.N(), crashes))
    questions.push_back({crashed, -1, question::kind::deadlock});
  return ask(g, d, questions, w, threads);
}

liveness_result find_endless_exit(const state_graph& g, const depths& d, watch& w, int threads) {
  std::vector<question> questions;
  questions.reserve(static_cast<std::size_t>(g.N()));
  for (int p = 0; p < g.N(); ++p) questions.push_back({0, p, question::kind::endless_exit});
  return ask(g, d, questions, w, threads);
}

}  // namespace kgate::lab
