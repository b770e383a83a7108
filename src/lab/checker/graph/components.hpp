// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Strongly connected components of part of a graph (Pearce's variant of Tarjan's algorithm: one number a vertex),
/// found in an order in which every component comes after those it leads to.
///
/// A Graph has vertices, `end()` of them or fewer, of type `vertex`; steps() steps a vertex and next(v, i), where step
/// i of v leads, or `nowhere`. The vertices are the numbers below end() for which valid(v) holds, unless the graph says
/// otherwise: then for_each_vertex(f) calls f(v) for each until f returns false, and index(v) is a number of v's own
/// below end().

#include <algorithm>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "lab/checker/explore/explorer.hpp"

namespace kgate::lab {

/// A stack of at most so many entries that takes memory only for as many as were ever on it.
template <class T>
class lazy_stack {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  explicit lazy_stack(std::size_t most) : memory_(most * sizeof(T)), first_(static_cast<T*>(memory_.data())) {}
  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  T& back() { return first_[size_ - 1]; }
  void push(const T& t) {
    first_[size_++] = t;
    most_ = std::max(most_, size_);
  }
  void drop(std::size_t count = 1) { size_ -= count; }
  std::span<const T> last(std::size_t count) const { return {first_ + size_ - count, count}; }
  std::uint64_t bytes() const { return most_ * sizeof(T); }

 private:
  reserved_memory memory_;
  T* first_;
  std::size_t size_ = 0;
  std::size_t most_ = 0;
};

template <class Graph>
class components {
 public:
  using vertex = typename Graph::vertex;

  /// `bytes_used` count against the watch's limit on memory, with what a search takes beside its numbers.
  explicit components(const Graph& g, std::uint64_t bytes_used = 0)
      : graph_(g), bytes_used_(bytes_used), number_(g.end(), 0) {}

  /// Calls found(members, same) for every component of the part of the graph with the vertices for which in(v) holds
  /// and the steps for which follows(v, i) holds. same(v) tells whether a vertex is in the component at hand. Ends when
  /// found returns false or `w` is over; returns whether it came to the end.
  template <class In, class Follows, class Found>
  bool for_each(In&& in, Follows&& follows, Found&& found, watch& w) {
    std::fill(number_.begin(), number_.end(), 0);
    std::uint32_t index = 1;
    std::uint32_t component = no_state;
    lazy_stack<vertex> pending(number_.size());
    struct visit {
      vertex v;
      std::uint32_t at;  ///< in number_
      std::uint16_t i;
      bool root;
    };
    lazy_stack<visit> path(number_.size());
    const auto over = [&] { return w.over(bytes_used_ + pending.bytes() + path.bytes()); };
    const int steps = graph_.steps();
    std::uint32_t met = 0;
    bool complete = true;
    const auto begin = [&](vertex v, std::uint32_t at) {
      number_[at] = index++;
      path.push({v, at, 0, true});
      if ((++met & 0xFFFFF) == 0 && over()) complete = false;
    };
    for_each_vertex([&](vertex start) {
      if (number_[at(start)] != 0 || !in(start)) return true;
      begin(start, at(start));
      while (!path.empty() && complete) {
        visit& top = path.back();
        if (top.i < steps) {
          const int i = top.i++;
          const vertex t = graph_.next(top.v, i);
          if (t == Graph::nowhere || !follows(top.v, i) || !in(t)) continue;
          const std::uint32_t there = at(t);
          if (number_[there] == 0) {
            begin(t, there);
          } else if (number_[there] < number_[top.at]) {
            number_[top.at] = number_[there];
            top.root = false;
          }
          continue;
        }
        const visit done = top;
        path.drop();
        if (!path.empty()) {
          visit& above = path.back();
          if (number_[done.at] < number_[above.at]) {
            number_[above.at] = number_[done.at];
            above.root = false;
          }
        }
        if (!done.root) {
          pending.push(done.v);
          continue;
        }
        std::size_t size = 1;
        for (--index; size <= pending.size() && number_[done.at] <= number_[at(pending.last(size).front())];
             ++size, --index)
          number_[at(pending.last(size).front())] = component;
        pending.push(done.v);
        number_[done.at] = component;
        const std::uint32_t mine = component--;
        const bool more = found(pending.last(size), [&](vertex v) { return number_[at(v)] == mine; });
        pending.drop(size);
        if (!more) return false;
      }
      return complete && ((met & 0xFFF) != 0 || (complete = !over()));
    });
    return complete;
  }

 private:
  std::uint32_t at(vertex v) const {
    if constexpr (requires { graph_.index(v); }) {
      return graph_.index(v);
    } else {
      return v;
    }
  }
  template <class F>
  void for_each_vertex(F&& f) const {
    if constexpr (requires { graph_.for_each_vertex(f); }) {
      graph_.for_each_vertex(f);
    } else {
      for (vertex v = 0; v < graph_.end(); ++v)
        if (graph_.valid(v) && !f(v)) return;
    }
  }

  const Graph& graph_;
  std::uint64_t bytes_used_;
  std::vector<std::uint32_t> number_;
};

}  // namespace kgate::lab
