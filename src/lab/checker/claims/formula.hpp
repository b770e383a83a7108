// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Temporal formulas over the states of a run: regions, labels, shared variables, with always, eventually and until.
///
///     ltl: forall p: [] (entry(p) && !crashed(p) -> <> inside(p))
///
/// There is no "next": what one step is depends on the interleaving. docs/properties.md has the grammar.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lab/checker/graph/graph.hpp"
#include "lab/checker/model/program.hpp"

namespace kgate::lab {

/// What processes that do not crash owe in a run without end.
enum class fairness_kind {
  none,    ///< nothing: any of them may stop at any time
  weak,    ///< one that is outside its remainder and can move from some point on moves
  strong,  ///< one that is outside its remainder and can move again and again moves again and again
};

/// A property that is a formula, as it is written in traces and on the command line: "ltl: ...", "ltl-strong: ...",
/// "ltl-unfair: ...".
struct formula_property {
  fairness_kind fairness = fairness_kind::weak;
  std::string formula;

  std::string text() const;
};
/// Nothing if the property is not a formula.
std::optional<formula_property> parse_formula_property(std::string_view property);

/// A statement about one state.
struct state_atom {
  enum class kind { in_region, waiting, at_label, crashed, variable, count };
  enum class relation { equal, unequal, less, at_most, more, at_least };

  kind is = kind::in_region;
  int process = -1;
  region where = region::remainder;
  int variable = -1;
  relation compared = relation::equal;
  std::string with;  ///< a label, or what a variable or a count is compared with
  friend bool operator==(const state_atom&, const state_atom&) = default;
};

/// A formula with its negations at the atoms, its parts numbered: parts come before what is made of them.
class temporal_formula {
 public:
  enum class kind { yes, no, atom, not_atom, both, either, until, release };
  struct node {
    kind is = kind::yes;
    int left = -1;  ///< an atom's number, or a part
    int right = -1;
    friend bool operator==(const node&, const node&) = default;
  };
  static constexpr std::size_t atoms_max = 64;
  static constexpr std::size_t nodes_max = 4096;

  /// Throws std::invalid_argument with a sentence that says what is wrong, and where. Labels are not looked up.
  temporal_formula(std::string_view text, const program& p);
  /// Throws std::invalid_argument if a label of the formula is neither one of these nor one that a process comes to, as
  /// far as `p` has been explored.
  void check_labels(const program& p, const std::vector<std::string>& others) const;

  const std::vector<state_atom>& atoms() const { return atoms_; }
  const std::vector<node>& nodes() const { return nodes_; }
  int root() const { return root_; }

  /// The parts of the negated formula of which one must be true for a run to violate it.
  std::vector<temporal_formula> violations() const;

  /// Which atoms are true in the state, one bit each.
  std::uint64_t valuation(const state_view& s, const program& p, process_set crashed) const;

  /// Whether the formula is true of the run whose states have these valuations, the last of them from `loop` on
  /// repeated for ever.
  bool true_of(const std::vector<std::uint64_t>& valuations, std::size_t loop) const;

 private:
  friend class formula_parser;
  temporal_formula() = default;
  int add(node n);
  int negated(int n, temporal_formula& into) const;

  std::vector<state_atom> atoms_;
  std::vector<node> nodes_;
  int root_ = 0;
};

/// Throws std::invalid_argument with a sentence if the label that `named_by` names is neither one of `others` nor one
/// that a process comes to, as far as `p` has been explored.
void require_label(std::string_view named_by, const std::string& label, const program& p,
                   const std::vector<std::string>& others);

}  // namespace kgate::lab
