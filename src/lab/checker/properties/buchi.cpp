// SPDX-License-Identifier: Apache-2.0
#include "lab/checker/properties/buchi.hpp"

#include <map>
#include <stdexcept>
#include <utility>

namespace kgate::lab {

namespace {

using kind = temporal_formula::kind;

/// A set of parts of the formula.
using parts = std::uint64_t;
constexpr parts one(int n) { return parts{1} << n; }

/// The tableau: a node is what is true now and what must be true from the next state on.
class tableau {
 public:
  explicit tableau(const temporal_formula& f) : formula_(f) {
    if (f.nodes().size() > 64) throw std::invalid_argument("a part of the formula is too long: split it");
    expand({one(f.root()), 0, 0}, initial);
    for (std::size_t at = 0; at < nodes_.size(); ++at) expand({nodes_[at].later, 0, 0}, static_cast<int>(at));
  }

  buchi_automaton automaton() const {
    buchi_automaton a;
    for (const open_node& n : nodes_) a.states.push_back(letters(n));
    for (const auto& [from, to] : edges_) {
      if (from == initial)
        a.states[static_cast<std::size_t>(to)].initial = true;
      else
        a.states[static_cast<std::size_t>(from)].next.push_back(to);
    }
    for (std::size_t n = 0; n < formula_.nodes().size(); ++n) {
      if (node(static_cast<int>(n)).is != kind::until) continue;
      if (a.acceptance_sets == 32) throw std::invalid_argument("the formula has too many 'until' and 'eventually'");
      const parts whole = one(static_cast<int>(n)), kept = one(node(static_cast<int>(n)).right);
      for (std::size_t s = 0; s < nodes_.size(); ++s)
        if ((nodes_[s].now & whole) == 0 || (nodes_[s].now & kept) != 0)
          a.states[s].accepting |= std::uint32_t{1} << a.acceptance_sets;
      ++a.acceptance_sets;
    }
    return a;
  }

 private:
  static constexpr int initial = -1;
  struct open_node {
    parts todo, now, later;
  };

  const temporal_formula::node& node(int n) const { return formula_.nodes()[static_cast<std::size_t>(n)]; }

  buchi_automaton::state letters(const open_node& n) const {
    buchi_automaton::state s;
    for (std::size_t i = 0; i < formula_.nodes().size(); ++i) {
      if ((n.now & one(static_cast<int>(i))) == 0) continue;
      const auto& it = formula_.nodes()[i];
      if (it.is == kind::atom) s.needs_true |= std::uint64_t{1} << it.left;
      if (it.is == kind::not_atom) s.needs_false |= std::uint64_t{1} << it.left;
    }
    return s;
  }

  void keep(const open_node& n, int from) {
    const auto s = letters(n);
    if ((s.needs_true & s.needs_false) != 0) return;
    const auto [entry, fresh] = known_.try_emplace({n.now, n.later}, static_cast<int>(nodes_.size()));
    if (fresh) nodes_.push_back(n);
    edges_.emplace_back(from, entry->second);
  }

  void expand(open_node n, int from) {
    if (n.todo == 0) return keep(n, from);
    int part = 0;
    while ((n.todo & one(part)) == 0) ++part;
    n.todo &= ~one(part);
    if ((n.now & one(part)) != 0) return expand(n, from);
    const temporal_formula::node& it = node(part);
    n.now |= one(part);
    const auto with = [&](parts todo, parts later) {
      open_node m = n;
      m.todo |= todo;
      m.later |= later;
      expand(m, from);
    };
    switch (it.is) {
      case kind::no:
        return;
      case kind::yes:
      case kind::atom:
      case kind::not_atom:
        return expand(n, from);
      case kind::both:
        return with(one(it.left) | one(it.right), 0);
      case kind::either:
        with(one(it.left), 0);
        return with(one(it.right), 0);
      case kind::until:
        with(one(it.right), 0);
        return with(one(it.left), one(part));
      case kind::release:
        with(one(it.left) | one(it.right), 0);
        return with(one(it.right), one(part));
    }
  }

  const temporal_formula& formula_;
  std::vector<open_node> nodes_;
  std::map<std::pair<parts, parts>, int> known_;
  std::vector<std::pair<int, int>> edges_;
};

}  // namespace

buchi_automaton to_buchi(const temporal_formula& f) { return tableau(f).automaton(); }

}  // namespace kgate::lab
