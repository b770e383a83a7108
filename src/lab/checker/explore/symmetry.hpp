// SPDX-License-Identifier: Apache-2.0
#pragma once

/// States that differ only by renaming processes, reduced to one of them. Sound for algorithms whose text treats
/// process numbers as names only (the catalogue says which do). Properties of single states can be read off the reduced
/// states; fairness needs to know which process is which along a run, which quotient.hpp keeps track of.
///
/// Renaming by a permutation moves local states and variables with a home to the process they belong to, and renames
/// the values of variables that hold process numbers. If the initial state is not the same under every renaming (figure
/// 3 starts with Q = 0), the reduced search covers all its renamings.

#include <cstdint>
#include <functional>
#include <vector>

#include "lab/checker/explore/tables.hpp"
#include "lab/checker/model/permutation.hpp"

namespace kgate::lab {

inline constexpr int symmetric_processes_max = 8;

class canonical_form {
 public:
  explicit canonical_form(tables& t);

  /// Replaces the state by the least of its renamings and tells by which one: process i of the state given is process
  /// result(i) of the state returned. Throws overflow.
  permutation reduce(std::uint64_t* words);
  /// How many states the renamings of this one are.
  std::uint64_t orbit_size(const std::uint64_t* words);
  /// Makes known to each automaton, renamed, every step that is known to one of them. A reduced search takes a step in
  /// the name of one process only, so what is asked of the automata by themselves is asked after this.
  void complete_automata();
  /// Calls f(renamed) for every renaming of the state.
  void for_each_renaming(const std::uint64_t* words, const std::function<void(const std::uint64_t*)>& f);

 private:
  struct renaming {
    permutation to;                             ///< process i becomes to(i)
    std::vector<int> variable;                  ///< variable v becomes variable[v]
    std::vector<std::vector<code>> codes;       ///< [v][c], on demand
    std::vector<std::vector<local_id>> locals;  ///< [i][s], on demand
  };
  /// What a variable tells apart: the process it is at home with, or the one it names.
  struct mark {
    int variable;
    int home;  ///< -1: it names a process
    std::uint64_t base;
    std::vector<std::uint64_t> of_code;  ///< a hash of the value, or the process named + 1; on demand
  };

  void signatures(const std::uint64_t* words, std::uint64_t* of);
  std::uint64_t local_signature(int p, local_id s);
  std::uint64_t marked(mark& m, code c);
  template <class F>
  void for_each_candidate(const std::uint64_t* words, F&& f);
  void apply(renaming& r, const std::uint64_t* from, std::uint64_t* to);
  /// Throws text_error unless local state s of p and what renaming makes of it are about to do the same.
  void require_alike(const renaming& r, int p, local_id s, local_id mirrored) const;
  [[noreturn]] static void not_alike(int p, const std::string& label, int q, const std::string& other_label);
  code renamed(renaming& r, int v, code c);
  local_id renamed_local(renaming& r, int p, local_id s);
  std::size_t index_of(const std::uint8_t* to) const;

  tables& table_;
  int N_;
  std::vector<renaming> renamings_;  ///< in lexicographic order of `to`
  std::vector<mark> marks_;
  std::vector<std::vector<std::uint64_t>> local_signatures_;  ///< [p][s], on demand
};

}  // namespace kgate::lab
