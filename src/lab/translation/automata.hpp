// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The automata of an explored program, named and numbered so that other model checkers can be given them: what
/// promela.cpp and tla.cpp write down.
///
/// A location is a local state, a move what a process does there on some observed values. Nothing is modelled by hand:
/// the moves are those that the exploration used, so a reader of the text sees the algorithm that was checked.

#include <string>
#include <vector>

#include "lab/checker/explore/explorer.hpp"

namespace kgate::lab {

/// A value of a variable: a number, or the process's own.
struct value_term {
  long number = 0;
  bool own = false;  ///< the number of the process itself, in a variable that holds process numbers; `number` is -1
  friend auto operator<=>(const value_term&, const value_term&) = default;
};

/// Which observed values a move is for.
struct guard {
  enum class kind { always, is, is_not, range, one_of };
  kind test = kind::always;
  std::vector<value_term> values;  ///< range: its ends
  friend bool operator==(const guard&, const guard&) = default;
};

struct automaton_move {
  enum class effect { none, set, add };
  guard when;
  effect does = effect::none;
  value_term value;  ///< what is written, or added
  int next = 0;      ///< a location
  bool enters = false;
  bool leaves = false;
  std::string remark;  ///< which value is read, if that is a free choice
  friend bool operator==(const automaton_move&, const automaton_move&) = default;
};

struct automaton_location {
  std::string name;   ///< an identifier made of the paper's label
  std::string label;  ///< the paper's
  operation op = operation::none;
  int variable = -1;  ///< in translated_program::variables; -1: none
  int element = -1;   ///< of an array; own_element: the process's own
  region where = region::remainder;
  bool done = false;
  bool waits = false;  ///< some observed values block
  std::vector<automaton_move> moves;
  friend bool operator==(const automaton_location&, const automaton_location&) = default;
};
inline constexpr int own_element = -2;

/// Processes first..last, whose automata are equal.
struct automaton_group {
  int first = 0;
  int last = 0;
  std::vector<automaton_location> locations;  ///< the first is where a process begins
};

/// A variable, or an array of one variable for each process.
struct translated_variable {
  std::string name;  ///< an identifier
  std::string paper_name;
  bool array = false;
  bool boolean = false;
  bool processes = false;  ///< holds process numbers, N for none
  long initial = 0;
  long lowest = 0;
  long highest = 0;
  std::vector<std::string> texts;  ///< of values that are no numbers: what 0, 1, ... stand for
  long unstable = -1;              ///< what stands for "a write is going on", or for a free choice
};

struct translated_program {
  std::string algorithm;
  int N = 0;
  int k = 0;
  int passages = 0;
  std::uint64_t states = 0;
  std::uint64_t transitions = 0;
  std::vector<translated_variable> variables;
  std::vector<automaton_group> groups;
  std::string made_by;  ///< for a comment
};

/// `e` must be complete, and made without symmetry, contention or deaths.
translated_program translate(const exploration& e, const std::string& algorithm);

std::string promela_text(const translated_program& p);
std::string tla_text(const translated_program& p);

}  // namespace kgate::lab
