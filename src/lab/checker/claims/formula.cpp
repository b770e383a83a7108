// SPDX-License-Identifier: Apache-2.0
#include "lab/checker/claims/formula.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <utility>

namespace kgate::lab {

namespace {

struct prefix {
  std::string_view text;
  fairness_kind fairness;
};
constexpr prefix prefixes[] = {
    {"ltl:", fairness_kind::weak}, {"ltl-strong:", fairness_kind::strong}, {"ltl-unfair:", fairness_kind::none}};

std::optional<long long> number_in(std::string_view text) {
  long long value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

template <class T>
bool compare(const T& a, state_atom::relation how, const T& b) {
  using enum state_atom::relation;
  switch (how) {
    case equal:
      return a == b;
    case unequal:
      return a != b;
    case less:
      return a < b;
    case at_most:
      return a <= b;
    case more:
      return a > b;
    case at_least:
      return a >= b;
  }
  return false;
}

}  // namespace

std::string formula_property::text() const {
  for (const prefix& one : prefixes)
    if (one.fairness == fairness) return fmt::format("{} {}", one.text, formula);
  return formula;
}

std::optional<formula_property> parse_formula_property(std::string_view property) {
  for (const prefix& one : prefixes) {
    if (!property.starts_with(one.text)) continue;
    property.remove_prefix(std::min(property.find_first_not_of(' ', one.text.size()), property.size()));
    return formula_property{one.fairness, std::string(property)};
  }
  return std::nullopt;
}

int temporal_formula::add(node n) {
  const auto found = std::find(nodes_.begin(), nodes_.end(), n);
  if (found != nodes_.end()) return static_cast<int>(found - nodes_.begin());
  if (nodes_.size() == nodes_max) throw std::invalid_argument("the formula is too long: split it");
  nodes_.push_back(n);
  return static_cast<int>(nodes_.size()) - 1;
}

int temporal_formula::negated(int n, temporal_formula& into) const {
  const node it = nodes_[static_cast<std::size_t>(n)];  // a copy: `into` may be this formula
  switch (it.is) {
    case kind::yes:
      return into.add({kind::no});
    case kind::no:
      return into.add({kind::yes});
    case kind::atom:
      return into.add({kind::not_atom, it.left});
    case kind::not_atom:
      return into.add({kind::atom, it.left});
    case kind::both:
    case kind::either:
    case kind::until:
    case kind::release: {
      const int left = negated(it.left, into), right = negated(it.right, into);
      const kind dual = it.is == kind::both     ? kind::either
                        : it.is == kind::either ? kind::both
                        : it.is == kind::until  ? kind::release
                                                : kind::until;
      return into.add({dual, left, right});
    }
  }
  return n;
}

std::vector<temporal_formula> temporal_formula::violations() const {
  std::vector<temporal_formula> all;
  std::vector<int> parts{root_};
  while (!parts.empty()) {
    const int part = parts.back();
    parts.pop_back();
    const node& it = nodes_[static_cast<std::size_t>(part)];
    if (it.is == kind::both) {
      parts.push_back(it.right);
      parts.push_back(it.left);
      continue;
    }
    temporal_formula one;
    one.atoms_ = atoms_;
    one.root_ = negated(part, one);
    all.push_back(std::move(one));
  }
  return all;
}

std::uint64_t temporal_formula::valuation(const state_view& s, const program& p, process_set crashed) const {
  const auto is_true = [&](const state_atom& a) {
    switch (a.is) {
      case state_atom::kind::in_region:
        return s.where(a.process) == a.where;
      case state_atom::kind::waiting:
        return s.where(a.process) == region::entry && s.waiting(a.process);
      case state_atom::kind::at_label:
        return s.label(a.process) == a.with;
      case state_atom::kind::crashed:
        return has(crashed, a.process);
      case state_atom::kind::count: {
        long long count = 0;
        for (int q = 0; q < p.N(); ++q) count += s.where(q) == a.where ? 1 : 0;
        return compare(count, a.compared, number_in(a.with).value());
      }
      case state_atom::kind::variable: {
        const std::string value = p.variable(a.variable).print(s.value(a.variable));
        const auto left = number_in(value), right = number_in(a.with);
        return left && right ? compare(*left, a.compared, *right) : compare(value, a.compared, a.with);
      }
    }
    return false;
  };
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < atoms_.size(); ++i)
    if (is_true(atoms_[i])) bits |= std::uint64_t{1} << i;
  return bits;
}

bool temporal_formula::true_of(const std::vector<std::uint64_t>& valuations, std::size_t loop) const {
  const std::size_t length = valuations.size();
  const auto after = [&](std::size_t i) { return i + 1 < length ? i + 1 : loop; };
  std::vector<std::vector<bool>> is(nodes_.size(), std::vector<bool>(length));
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    const node& it = nodes_[n];
    const auto part = [&](int which) -> const std::vector<bool>& { return is[static_cast<std::size_t>(which)]; };
    const auto atom = [&](std::size_t i) { return (valuations[i] >> it.left & 1) != 0; };
    // Until is the least solution of its equation, release the greatest; twice round the loop finds either.
    if (it.is == kind::release) is[n].assign(length, true);
    for (int round = 0; round < 3; ++round)
      for (std::size_t i = length; i-- > 0;) switch (it.is) {
          case kind::yes:
            is[n][i] = true;
            break;
          case kind::no:
            is[n][i] = false;
            break;
          case kind::atom:
            is[n][i] = atom(i);
            break;
          case kind::not_atom:
            is[n][i] = !atom(i);
            break;
          case kind::both:
            is[n][i] = part(it.left)[i] && part(it.right)[i];
            break;
          case kind::either:
            is[n][i] = part(it.left)[i] || part(it.right)[i];
            break;
          case kind::until:
            is[n][i] = part(it.right)[i] || (part(it.left)[i] && is[n][after(i)]);
            break;
          case kind::release:
            is[n][i] = part(it.right)[i] && (part(it.left)[i] || is[n][after(i)]);
            break;
        }
  }
  return is[static_cast<std::size_t>(root_)][0];
}

}  // namespace kgate::lab
