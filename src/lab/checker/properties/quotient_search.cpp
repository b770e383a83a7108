// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <functional>
#include <mutex>
#include <span>
#include <unordered_set>
#include <utility>

#include "lab/checker/explore/parallel_for.hpp"
#include "lab/checker/graph/components.hpp"
#include "lab/checker/graph/fair_cycle.hpp"
#include "lab/checker/graph/quotient.hpp"
#include "lab/checker/properties/liveness.hpp"

namespace kgate::lab {

namespace {

/// The vertices of one search: a row, a victim that may stay in it, and a set of `crashes` others that have crashed.
class marked_states {
 public:
  using vertex = std::uint64_t;
  static constexpr vertex nowhere = ~vertex{0};

  struct marks {
    std::uint32_t row;
    int victim;
    process_set crashed;
  };

  marked_states(const quotient_graph& g, int crashes) : graph_(g), rank_(std::size_t{1} << g.N()) {
    for (const process_set f : sets_up_to(g.N() - 1, crashes))
      if (std::popcount(f) == crashes) {
        rank_[f] = static_cast<std::uint8_t>(sets_.size());
        sets_.push_back(f);
      }
    base_.reserve(g.end());
    std::uint64_t count = 0;
    for (std::uint32_t r = 0; r < g.end(); ++r) {
      base_.push_back(static_cast<std::uint32_t>(count));
      count += static_cast<std::uint64_t>(std::popcount(g.may_stay(r))) * sets_.size();
    }
    fits_ = count < no_state;
    end_ = static_cast<std::uint32_t>(count);
  }
  bool fits() const { return fits_; }
  std::uint64_t bytes() const { return base_.size() * sizeof(base_[0]); }

  std::uint32_t end() const { return end_; }
  std::uint32_t index(vertex v) const {
    const auto position = static_cast<std::uint32_t>(std::popcount(graph_.may_stay(row(v)) & (only(victim(v)) - 1)));
    return base_[row(v)] + position * static_cast<std::uint32_t>(sets_.size()) + static_cast<std::uint32_t>(v & 0xFF);
  }
  template <class F>
  void for_each_vertex(F&& f) const {
    for (std::uint32_t r = 0; r < graph_.end(); ++r)
      for (process_set rest = graph_.may_stay(r); rest != 0; rest &= rest - 1)
        for (std::size_t c = 0; c < sets_.size(); ++c)
          if (!f(at(r, std::countr_zero(rest), c))) return;
  }
  int steps() const { return graph_.steps(); }
  int owner(int i) const { return graph_.owner(i); }

  static std::uint32_t row(vertex v) { return static_cast<std::uint32_t>(v >> 32); }
  marks of(vertex v) const { return {row(v), victim(v), with_gap(sets_[v & 0xFF], victim(v))}; }
  vertex next(vertex v, int i) const {
    const marks m = of(v);
    if (has(m.crashed, owner(i))) return nowhere;
    const std::uint32_t t = graph_.next(m.row, i);
    if (t == no_state) return nowhere;
    const permutation to = graph_.renamed(m.row, i);
    const int victim = to(m.victim);
    if (!has(graph_.may_stay(t), victim)) return nowhere;
    return at(t, victim, rank_[without(to.of_set(m.crashed), victim)]);
  }

 private:
  static vertex at(std::uint32_t row, int victim, std::size_t crashed) {
    return vertex{row} << 32 | static_cast<vertex>(victim) << 8 | crashed;
  }
  static int victim(vertex v) { return static_cast<int>(v >> 8 & 0xFF); }
  /// A set of processes but the victim, numbered as if it were not there; and back.
  static process_set without(process_set s, int victim) {
    return (s & (only(victim) - 1)) | (s >> (victim + 1) << victim);
  }
  static process_set with_gap(process_set s, int victim) {
    return (s & (only(victim) - 1)) | (s >> victim << (victim + 1));
  }

  const quotient_graph& graph_;
  std::vector<process_set> sets_;    ///< of processes but the victim
  std::vector<std::uint8_t> rank_;   ///< the index of a set in sets_
  std::vector<std::uint32_t> base_;  ///< [row]: the index of its first vertex
  std::uint32_t end_ = 0;
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

using member_set = std::unordered_set<marked_states::vertex>;

/// The real states of a component, in the names of its root: a member with the permutation that takes its names to the
/// root's. Step i is that of the root's process owner(i).
class component_cover {
 public:
  struct vertex {
    marked_states::vertex member;
    std::uint32_t names;
    bool operator==(const vertex&) const = default;
  };
  static constexpr vertex nowhere{marked_states::nowhere, 0};

  component_cover(const quotient_graph& g, const marked_states& m, const member_set& members)
      : graph_(g), marked_(m), members_(members) {}

  static vertex at(marked_states::vertex v, permutation names) { return {v, names.bits()}; }
  int N() const { return graph_.N(); }
  int steps() const { return graph_.steps(); }
  int owner(int i) const { return graph_.owner(i); }
  process_set obliged(vertex v) const { return names(v).of_set(graph_.obliged(marked_states::row(v.member))); }
  vertex next(vertex v, int i) const {
    const permutation here = names(v);
    const int mover = here.inverse()(owner(i));
    const int step = mover * graph_.choices() + graph_.choice(i);
    const marked_states::vertex t = marked_.next(v.member, step);
    if (t == marked_states::nowhere || !members_.contains(t)) return nowhere;
    return at(t, here.after(graph_.renamed(marked_states::row(v.member), step).inverse()));
  }

 private:
  static permutation names(vertex v) { return permutation::of_bits(v.names); }

  const quotient_graph& graph_;
  const marked_states& marked_;
  const member_set& members_;
};

}  // namespace
}  // namespace kgate::lab

template <>
struct std::hash<kgate::lab::component_cover::vertex> {
  std::size_t operator()(const kgate::lab::component_cover::vertex& v) const noexcept {
    return std::hash<std::uint64_t>{}(v.member * 0x9E3779B97F4A7C15ULL ^ v.names);
  }
};

namespace kgate::lab {
namespace {

/// Looks for components that carry a fair run, and keeps the one nearest to the start.
class search {
 public:
  search(const quotient_graph& g, const depths& d, int crashes) : graph_(g), depths_(d), marked_(g, crashes) {}

  /// `bytes_used` grows by what the search takes.
  liveness_result run(watch& w, std::atomic<std::uint64_t>& bytes_used) {
    liveness_result result;
    if (!marked_.fits()) w.end("too many states for one search");
    const std::uint64_t mine = marked_.bytes() + marked_.end() * (sizeof(names_[0]) + sizeof(std::uint32_t));
    const std::uint64_t bytes = bytes_used.fetch_add(mine) + mine;
    if (w.over(bytes)) {
      result.complete = false;
      return result;
    }
    names_.assign(marked_.end(), not_met);
    components<marked_states> parts(marked_, bytes);
    const auto always = [](auto...) { return true; };
    result.complete = parts.for_each(
        always, always,
        [&](std::span<const vertex> members, auto&& same) {
          judge(members, same);
          return true;
        },
        w);
    if (root_ != marked_states::nowhere) {
      const component_cover cover(graph_, marked_, members_);
      const marked_states::marks at = marked_.of(root_);
      result.found =
          lasso{graph_.state(at.row), fair_cycle(cover, component_cover::at(root_, {}), always, owed_, 0, stepping_),
                at.victim, at.crashed};
    }
    return result;
  }

 private:
  using vertex = marked_states::vertex;
  static constexpr std::uint16_t not_met = 0xFFFF;

  process_set everyone() const { return only(graph_.N()) - 1; }
  std::uint32_t depth(vertex v) const { return depths_.of(graph_.state(marked_states::row(v))); }

  template <class Same>
  void judge(std::span<const vertex> members, Same&& same) {
    // Most components are one state in which some process can move: settled without a second look.
    if (members.size() == 1) {
      const marked_states::marks m = marked_.of(members[0]);
      bool loops = false;
      for (int i = 0; i < graph_.steps(); ++i) loops |= marked_.next(members[0], i) == members[0];
      if (!loops && (graph_.obliged(m.row) & everyone() & ~m.crashed) != 0) return;
    }
    const int N = graph_.N();
    const vertex root = members.back();
    const process_set owed = everyone() & ~marked_.of(root).crashed;
    process_set stepping = 0, idle = 0;
    orbits exchanged;
    open_.assign(1, root);
    names_[marked_.index(root)] = graph_.index_of({});
    while (!open_.empty()) {
      const vertex v = open_.back();
      open_.pop_back();
      const permutation names = graph_.permutation_at(names_[marked_.index(v)]);
      const std::uint32_t row = marked_states::row(v);
      idle |= names.of_set(everyone() & ~graph_.obliged(row));
      for (int i = 0; i < graph_.steps(); ++i) {
        const vertex t = marked_.next(v, i);
        if (t == marked_states::nowhere || !same(t)) continue;
        stepping |= only(names(graph_.owner(i)));
        const permutation there = names.after(graph_.renamed(row, i).inverse());
        std::uint16_t& known = names_[marked_.index(t)];
        if (known == not_met) {
          known = graph_.index_of(there);
          open_.push_back(t);
        } else {
          exchanged.join(there.after(graph_.permutation_at(known).inverse()), N);
        }
      }
    }
    if ((owed & ~exchanged.closed(stepping | idle, N)) != 0) return;
    const vertex nearest =
        *std::min_element(members.begin(), members.end(), [&](vertex a, vertex b) { return depth(a) < depth(b); });
    if (root_ != marked_states::nowhere && depth(nearest) >= depth(root_)) return;
    // What is known in the names of the root is asked for in those of the member nearest to the start.
    const permutation to_nearest = graph_.permutation_at(names_[marked_.index(nearest)]).inverse();
    root_ = nearest;
    members_ = member_set(members.begin(), members.end());
    owed_ = to_nearest.of_set(owed);
    stepping_ = to_nearest.of_set(exchanged.closed(stepping, N));
  }

  const quotient_graph& graph_;
  const depths& depths_;
  marked_states marked_;
  std::vector<std::uint16_t> names_;  ///< [vertex]: the permutation to the names of its component's root
  std::vector<vertex> open_;
  vertex root_ = marked_states::nowhere;  ///< of what was found, in whose names the rest is
  member_set members_;
  process_set owed_ = 0;
  process_set stepping_ = 0;
};

}  // namespace

liveness_result find_starvation(const quotient_graph& g, const depths& d, int crashes, watch& w,
                                const run_limits& limits, std::uint64_t bytes_used) {
  liveness_result best;
  std::mutex mutex;
  std::atomic<std::uint64_t> bytes{bytes_used + g.bytes()};
  const auto rank = [&](const lasso& l) { return std::pair(d.of(l.entry), std::popcount(l.crashed)); };
  const int most = std::min(crashes, g.N() - 1);
  parallel_for(limits.threads, static_cast<std::size_t>(most) + 1, [&](std::size_t i, bool reports) {
    if (reports) w.report("looking for cycles", i, static_cast<std::size_t>(most) - i, bytes);
    // The largest search first.
    liveness_result found = search(g, d, most - static_cast<int>(i)).run(w, bytes);
    const std::scoped_lock lock(mutex);
    if (!found.complete) best.complete = false;
    if (found.found && (!best.found || rank(*found.found) < rank(*best.found))) best.found = std::move(found.found);
  });
  return best;
}

}  // namespace kgate::lab
