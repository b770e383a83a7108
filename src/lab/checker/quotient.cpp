// SPDX-License-Identifier: Apache-2.0
#include "lab/checker/quotient.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <thread>
#include <unordered_map>

#include "lab/checker/components.hpp"
#include "lab/checker/fair_cycle.hpp"
#include "lab/checker/local_analysis.hpp"
#include "lab/checker/symmetry.hpp"

namespace kgate::lab {

namespace {

std::vector<permutation> all_permutations(int N) {
  std::vector<int> to(static_cast<std::size_t>(N));
  for (int i = 0; i < N; ++i) to[static_cast<std::size_t>(i)] = i;
  std::vector<permutation> all;
  do {
    permutation p;
    for (int i = 0; i < N; ++i) p.set(i, to[static_cast<std::size_t>(i)]);
    all.push_back(p);
  } while (std::next_permutation(to.begin(), to.end()));
  std::sort(all.begin(), all.end(), [](permutation a, permutation b) { return a.bits() < b.bits(); });
  return all;
}

/// The vertices of one search: a state, a victim that may stay in it, and a set of `crashes` others that have crashed. They
/// are numbered state by state.
class marked_states {
 public:
  using vertex = state_id;
  static constexpr vertex nowhere = no_state;

  struct marks {
    state_id s;
    int victim;
    process_set crashed;
  };

  marked_states(const quotient_graph& g, int crashes) : graph_(g), rank_(std::size_t{1} << g.N()) {
    for (const process_set f : sets_up_to(g.N() - 1, crashes))
      if (std::popcount(f) == crashes) {
        rank_[f] = static_cast<std::uint16_t>(sets_.size());
        sets_.push_back(f);
      }
    base_.reserve(g.end() + std::size_t{1});
    std::uint64_t count = 0;
    for (state_id s = 0; s < g.end(); ++s) {
      base_.push_back(static_cast<vertex>(count));
      count += static_cast<std::uint64_t>(std::popcount(g.may_stay(s))) * sets_.size();
      if (count >= no_state) return;
    }
    base_.push_back(static_cast<vertex>(count));
    fits_ = true;
  }
  static std::uint64_t bytes(const quotient_graph& g, int crashes) {
    std::uint64_t vertices = 0;
    for (state_id s = 0; s < g.end(); ++s) vertices += static_cast<std::uint64_t>(std::popcount(g.may_stay(s)));
    std::uint64_t choices = 0;
    for (const process_set f : sets_up_to(g.N() - 1, crashes)) choices += std::popcount(f) == crashes;
    return sizeof(vertex) * g.end() + 3 * sizeof(std::uint32_t) * vertices * choices;
  }
  void index() {
    state_.resize(end());
    for (state_id s = 0; s + std::size_t{1} < base_.size(); ++s) std::fill(&state_[0] + base_[s], &state_[0] + base_[s + 1], s);
  }
  bool fits() const { return fits_; }

  vertex end() const { return base_.back(); }
  bool valid(vertex) const { return true; }
  int steps() const { return graph_.steps(); }
  int owner(int i) const { return graph_.owner(i); }

  marks of(vertex n) const {
    const state_id s = state_[n];
    const vertex offset = n - base_[s];
    process_set rest = graph_.may_stay(s);
    for (vertex skip = offset / static_cast<vertex>(sets_.size()); skip > 0; --skip) rest &= rest - 1;
    const int victim = std::countr_zero(rest);
    return {s, victim, with_gap(sets_[offset % sets_.size()], victim)};
  }
  vertex next(vertex n, int i) const {
    const marks m = of(n);
    if (has(m.crashed, owner(i))) return nowhere;
    const state_id t = graph_.next(m.s, i);
    if (t == no_state) return nowhere;
    const permutation to = graph_.renamed(m.s, i);
    const int victim = to(m.victim);
    const process_set stays = graph_.may_stay(t);
    if (!has(stays, victim)) return nowhere;
    const auto place = static_cast<vertex>(std::popcount(stays & (only(victim) - 1)));
    return base_[t] + place * static_cast<vertex>(sets_.size()) + rank_[without(to.of_set(m.crashed), victim)];
  }

 private:
  /// A set of processes but the victim, numbered as if it were not there; and back.
  static process_set without(process_set s, int victim) { return (s & (only(victim) - 1)) | (s >> (victim + 1) << victim); }
  static process_set with_gap(process_set s, int victim) {
    return (s & (only(victim) - 1)) | (s >> victim << (victim + 1));
  }

  const quotient_graph& graph_;
  std::vector<process_set> sets_;    ///< of processes but the victim
  std::vector<std::uint16_t> rank_;  ///< the place of a set in sets_
  std::vector<vertex> base_;         ///< [s]: its first vertex
  std::vector<state_id> state_;      ///< [vertex]
  bool fits_ = false;
};

/// The processes as a component knows them: those that some way round it exchanges are one.
class orbits {
 public:
  orbits() {
    for (int i = 0; i < 8; ++i) above_[static_cast<std::size_t>(i)] = i;
  }
  void join(permutation g, int N) {
    for (int i = 0; i < N; ++i) above_[static_cast<std::size_t>(top(i))] = top(g(i));
  }
  process_set closed(process_set s, int N) const {
    process_set all = 0;
    for (int i = 0; i < N; ++i)
      for (int j = 0; j < N; ++j)
        if (has(s, i) && top(i) == top(j)) all |= only(j);
    return all;
  }

 private:
  int top(int i) const {
    while (above_[static_cast<std::size_t>(i)] != i) i = above_[static_cast<std::size_t>(i)];
    return i;
  }
  std::array<int, 8> above_;
};

/// The real states of a component, in the names of its root: a member with the permutation that takes its names to the root's.
/// Step i is that of the root's process owner(i).
class component_cover {
 public:
  using vertex = std::uint64_t;
  static constexpr vertex nowhere = ~vertex{0};

  component_cover(const quotient_graph& g, const marked_states& m, const std::unordered_map<state_id, bool>& members)
      : graph_(g), marked_(m), members_(members) {}

  static vertex at(state_id n, permutation names) { return vertex{n} << 32 | names.bits(); }
  int N() const { return graph_.N(); }
  int steps() const { return graph_.steps(); }
  int owner(int i) const { return graph_.owner(i); }
  process_set obliged(vertex v) const { return names(v).of_set(graph_.obliged(marked_.of(member(v)).s)); }
  vertex next(vertex v, int i) const {
    const permutation here = names(v);
    const int mover = here.inverse()(owner(i));
    const int step = mover * graph_.choices() + graph_.choice(i);
    const state_id t = marked_.next(member(v), step);
    if (t == no_state || !members_.contains(t)) return nowhere;
    return at(t, here.after(graph_.renamed(marked_.of(member(v)).s, step).inverse()));
  }

 private:
  static state_id member(vertex v) { return static_cast<state_id>(v >> 32); }
  static permutation names(vertex v) { return permutation::of_bits(static_cast<std::uint32_t>(v)); }

  const quotient_graph& graph_;
  const marked_states& marked_;
  const std::unordered_map<state_id, bool>& members_;
};

struct finding {
  std::uint32_t depth = ~0U;
  state_id root = no_state;
  std::unordered_map<state_id, bool> members;
  process_set owed = 0;
  process_set stepping = 0;
};

class search {
 public:
  search(const quotient_graph& g, const depths& d, int crashes) : graph_(g), depths_(d), marked_(g, crashes) {}

  liveness_result run(watch& w) {
    liveness_result result;
    if (!marked_.fits()) {
      w.end("too many states for one search");
      result.complete = false;
      return result;
    }
    marked_.index();
    names_.assign(marked_.end(), 0);
    components<marked_states> parts(marked_);
    result.complete = parts.for_each([](state_id) { return true; }, [](state_id, int) { return true; },
                                     [&](const std::vector<state_id>& members, auto&& same) {
                                       judge(members, same);
                                       return true;
                                     },
                                     w);
    if (best_.root != no_state) {
      const component_cover cover(graph_, marked_, best_.members);
      const marked_states::marks at = marked_.of(best_.root);
      const auto always = [](auto...) { return true; };
      result.found = lasso{at.s,
                           fair_cycle(cover, component_cover::at(best_.root, {}), always, best_.owed, 0, best_.stepping),
                           at.victim, at.crashed};
    }
    return result;
  }

 private:
  process_set everyone() const { return only(graph_.N()) - 1; }

  template <class Same>
  void judge(const std::vector<state_id>& members, Same&& same) {
    // Most components are one state in which somebody can move: settled without a second look.
    if (members.size() == 1) {
      const marked_states::marks m = marked_.of(members[0]);
      bool loops = false;
      for (int i = 0; i < graph_.steps(); ++i) loops |= marked_.next(members[0], i) == members[0];
      if (!loops && (graph_.obliged(m.s) & everyone() & ~m.crashed) != 0) return;
    }
    const int N = graph_.N();
    const state_id root = *std::min_element(members.begin(), members.end(), [&](state_id a, state_id b) {
      return depths_.of(marked_.of(a).s) < depths_.of(marked_.of(b).s);
    });
    const process_set owed = everyone() & ~marked_.of(root).crashed;
    process_set stepping = 0, idle = 0;
    orbits exchanged;
    open_.assign(1, root);
    names_[root] = permutation{}.bits();
    while (!open_.empty()) {
      const state_id n = open_.back();
      open_.pop_back();
      const permutation names = permutation::of_bits(names_[n]);
      const state_id s = marked_.of(n).s;
      idle |= names.of_set(everyone() & ~graph_.obliged(s));
      for (int i = 0; i < graph_.steps(); ++i) {
        const state_id t = marked_.next(n, i);
        if (t == no_state || !same(t)) continue;
        stepping |= only(names(graph_.owner(i)));
        const permutation there = names.after(graph_.renamed(s, i).inverse());
        if (names_[t] == 0) {
          names_[t] = there.bits();
          open_.push_back(t);
        } else {
          exchanged.join(there.after(permutation::of_bits(names_[t]).inverse()), N);
        }
      }
    }
    if ((owed & ~exchanged.closed(stepping | idle, N)) != 0) return;
    const std::uint32_t depth = depths_.of(marked_.of(root).s);
    if (depth >= best_.depth) return;
    best_ = {depth, root, {}, owed, exchanged.closed(stepping, N)};
    for (const state_id n : members) best_.members.emplace(n, true);
  }

  const quotient_graph& graph_;
  const depths& depths_;
  marked_states marked_;
  std::vector<std::uint32_t> names_;  ///< [vertex]: the permutation to the root's names; 0: not met
  std::vector<state_id> open_;
  finding best_;
};

}  // namespace

quotient_graph::quotient_graph(exploration& e, watch& w, const run_limits& limits)
    : N_(e.table->source().N()),
      choices_(static_cast<int>(e.table->steps_max())),
      end_(e.store->end()),
      permutations_(all_permutations(N_)) {
  if (e.store->bytes(e.states) + bytes() > limits.memory_max) {
    w.end("memory limit reached");
    complete_ = false;
    return;
  }
  const std::size_t places = std::size_t{end_} * static_cast<std::size_t>(steps());
  next_memory_ = reserved_memory(places * sizeof(state_id));
  by_memory_ = reserved_memory(places * sizeof(std::uint16_t));
  mask_memory_ = reserved_memory(std::size_t{end_} * 2);
  next_ = static_cast<state_id*>(next_memory_.data());
  by_ = static_cast<std::uint16_t*>(by_memory_.data());
  obliged_ = static_cast<std::uint8_t*>(mask_memory_.data());
  stays_ = obliged_ + end_;
  for (int p = 0; p < N_; ++p) recurrent_.push_back(recurrent_locals(e.table->source(), p, region::entry));
  const auto threads = static_cast<std::size_t>(std::max(1, limits.threads));
  with_words(e.store->words(), [&]<unsigned W>() {
    std::vector<std::thread> others;
    for (std::size_t t = 1; t < threads; ++t) others.emplace_back([&, t] { fill<W>(e, t, threads, w); });
    fill<W>(e, 0, threads, w);
    for (std::thread& t : others) t.join();
  });
  complete_ = w.why().empty();
}

std::uint64_t quotient_graph::bytes() const {
  return std::uint64_t{end_} * (static_cast<std::uint64_t>(steps()) * (sizeof(state_id) + sizeof(std::uint16_t)) + 2);
}

template <unsigned W>
void quotient_graph::fill(exploration& e, std::size_t thread, std::size_t threads, watch& w) {
  canonical_form canonical(*e.table);
  constexpr state_id piece = 4096;
  std::size_t number = 0;
  for (const id_range& r : e.used())
    for (state_id begin = r.begin; begin < r.end; begin += piece, ++number) {
      if (number % threads != thread) continue;
      if (w.over(0)) return;
      if (thread == 0) w.report("linking", begin, end_ - begin, bytes());
      for (state_id s = begin; s < std::min(r.end, begin + piece); ++s) {
        std::fill_n(next_ + at(s, 0), steps(), no_state);
        for (int p = 0; p < N_; ++p)
          if (recurrent_[p][e.table->packing().local[p].get(e.store->record(s))]) stays_[s] |= static_cast<std::uint8_t>(only(p));
        for_each_step<W>(
            *e.table, no_observer{}, e.contention, e.store->record(s),
            [&](const step& it, const std::uint64_t* to) {
              if (it.row.where != region::remainder) obliged_[s] |= static_cast<std::uint8_t>(only(it.p));
              std::uint64_t reduced[W];
              std::copy_n(to, W, reduced);
              const permutation by = canonical.reduce(reduced);
              const int i = it.p * choices_ + it.choice;
              next_[at(s, i)] = e.store->find<W>(reduced);
              const auto place = std::lower_bound(permutations_.begin(), permutations_.end(), by,
                                                  [](permutation a, permutation b) { return a.bits() < b.bits(); });
              by_[at(s, i)] = static_cast<std::uint16_t>(place - permutations_.begin());
            },
            [](const step&) {});
      }
    }
}

liveness_result find_starvation(const quotient_graph& g, const depths& d, int crashes, watch& w, const run_limits& limits,
                                std::uint64_t bytes_used) {
  liveness_result best;
  std::uint32_t depth = ~0U;
  for (int f = 0; f <= std::min(crashes, g.N() - 1); ++f) {
    if (bytes_used + g.bytes() + marked_states::bytes(g, f) > limits.memory_max) {
      w.end("memory limit reached");
      best.complete = false;
      break;
    }
    w.report("looking for cycles", static_cast<std::uint64_t>(f), static_cast<std::uint64_t>(crashes - f), g.bytes());
    liveness_result found = search(g, d, f).run(w);
    if (found.found && d.of(found.found->entry) < depth) {
      depth = d.of(found.found->entry);
      best.found = std::move(found.found);
    }
    if (!found.complete) {
      best.complete = false;
      break;
    }
  }
  return best;
}

}  // namespace kgate::lab
