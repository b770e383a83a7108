// SPDX-License-Identifier: Apache-2.0
#pragma once

/// States that differ only by renaming processes, reduced to one of them. Sound for safety properties of algorithms whose text
/// treats process numbers as names only (the catalogue says which do); not used for properties under fairness.
///
/// Renaming by a permutation moves local states and variables with a home to the process they belong to, and renames the
/// values of variables that hold process numbers. If the initial state is not the same under every renaming (figure 3 starts
/// with Q = 0), the reduced search covers all its renamings.

#include <cstdint>
#include <functional>
#include <vector>

#include "lab/checker/tables.hpp"

namespace kgate::lab {

inline constexpr int symmetric_processes_max = 7;

class canonical_form {
 public:
  explicit canonical_form(tables& t);

  /// Replaces the state by the least of its renamings. Throws overflow.
  void reduce(std::uint64_t* words);
  /// How many states the renamings of this one are.
  std::uint64_t orbit_size(const std::uint64_t* words);
  /// Calls f(renamed) for every renaming of the state.
  void for_each_renaming(const std::uint64_t* words, const std::function<void(const std::uint64_t*)>& f);

 private:
  using permutation = std::vector<int>;

  struct renaming {
    permutation to;                             ///< process i becomes to[i]
    std::vector<int> variable;                  ///< variable v becomes variable[v]
    std::vector<std::vector<code>> codes;       ///< [v][c], on demand
    std::vector<std::vector<local_id>> locals;  ///< [i][s], on demand
  };

  std::uint64_t signature(int p, const std::uint64_t* words) const;
  template <class F>
  void for_each_candidate(const std::uint64_t* words, F&& f);
  void apply(renaming& r, const std::uint64_t* from, std::uint64_t* to);
  code renamed(renaming& r, int v, code c);
  local_id renamed_local(renaming& r, int p, local_id s);
  std::size_t index_of(const permutation& to) const;

  tables& table_;
  int N_;
  std::vector<renaming> renamings_;             ///< in lexicographic order of `to`
};

}  // namespace kgate::lab
