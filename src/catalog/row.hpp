// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What the catalogue says about an algorithm. The papers' files beside this have the rows, catalog.hpp the table; what
/// is here knows no algorithm.

#include <array>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "kgate/detail/process.hpp"

namespace kgate::catalog {

/// Atomic operations besides reads and writes; a set of them is a sum.
enum primitive : unsigned {
  reads_and_writes = 0,
  fetch_and_add = 1,
  test_and_set = 2,
  compare_and_swap = 4,
  exchange = 8,
  read_modify_write = 16,
};

/// "fetch-and-add, test-and-set", or "reads and writes".
inline std::string to_string(primitive set) {
  std::string text;
  const auto add = [&](primitive one, const char* word) {
    if ((set & one) != 0) text += (text.empty() ? "" : ", ") + std::string(word);
  };
  add(fetch_and_add, "fetch-and-add");
  add(test_and_set, "test-and-set");
  add(compare_and_swap, "compare-and-swap");
  add(exchange, "exchange");
  add(read_modify_write, "read-modify-write");
  return text.empty() ? "reads and writes" : text;
}

constexpr primitive operator|(primitive a, primitive b) {
  return static_cast<primitive>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}

/// The N and k the algorithm itself can be made for; 1 <= k <= N always holds besides. With k = N no process waits.
struct limits {
  int N_max = processes_max;
  int k_max = processes_max;
};

/// How many processes may crash without the progress promises being lost.
enum class crashes { none, k_minus_one, any };

/// What holds in every run. Progress promises hold with as many crashes as `despite` says.
struct promises {
  bool k_exclusion = true;
  bool deadlock_free = true;
  bool starvation_free = true;
  bool bounded_exit = true;
  crashes despite = crashes::k_minus_one;
  bool names = false;        ///< those inside hold distinct names 0..k-1
  bool k_fcfs = false;       ///< fewer than k later ones overtake one that has passed its doorway
  bool fife = false;         ///< first in, first enabled
  bool l_queuelike = false;  ///< Fischer et al.'s C6
  int overtakings_max = -1;  ///< bounded waiting for enabling: how often one may be overtaken; -1: no bound promised
  std::string_view more{};   ///< further properties, by their ids, each behind a space: of texts in files
};

/// The most crashes the progress promises allow for.
constexpr int crashes_max(const promises& promise, int N, int k) {
  switch (promise.despite) {
    case crashes::none:
      return 0;
    case crashes::k_minus_one:
      return k - 1;
    case crashes::any:
      return N - 1;
  }
  return 0;
}

/// The registers the algorithm is correct on. On safe registers a read that overlaps a write may return any value.
enum class registers { atomic, safe };

enum class rmr_model { cc, dsm };

/// In which runs a bound on remote memory references holds: in all; if no other process is outside its remainder; if at
/// most c processes are.
enum class bound_case { always, alone, contention };

/// Remote memory references of one passage.
using rmr_count = long long;
inline constexpr rmr_count unbounded = std::numeric_limits<rmr_count>::max();

/// One claim about remote memory references. A claim of an order of growth only has no `at`.
struct rmr_bound {
  rmr_model model = rmr_model::cc;
  bound_case when = bound_case::always;
  std::string_view formula{};
  rmr_count (*at)(int N, int k, int c) = nullptr;
};

/// Does renaming the processes, in the state and in process_id values, map runs to runs?
enum class symmetry {
  none,
  one_group,  ///< while N <= 2k: no process has a leaf of its own, as in a tree with more than one leaf
  full,
};

struct row {
  std::string_view id{};
  std::string_view title{};
  std::string_view paper{};
  std::string_view figure{};
  std::string_view theorem{};
  primitive primitives = reads_and_writes;
  limits allowed{};
  promises promise{};
  symmetry symmetric = symmetry::none;
  /// All shared variables have finitely many values, so that unlimited passages have finitely many states.
  bool bounded_variables = true;
  /// Makes sense on the native machine.
  bool native = true;
  registers needs = registers::atomic;
  std::string_view note{};
  /// Where its text is, below include/kgate/algorithms: the shape first, then what it is made of. Unused entries are
  /// empty.
  std::array<std::string_view, 4> headers{};
  /// Unused entries have an empty formula.
  std::array<rmr_bound, 4> bounds{};

  constexpr bool symmetric_at(int N, int k) const {
    return symmetric == symmetry::full || (symmetric == symmetry::one_group && N <= 2 * k);
  }
};

/// An algorithm as the user names it: a row, or figure 1 of Anderson & Moir over a row.
struct choice {
  const row* base = nullptr;
  bool with_names = false;

  explicit operator bool() const { return base != nullptr; }
  std::string id() const { return std::string(base->id) + (with_names ? "+names" : ""); }
  promises promise() const {
    promises all = base->promise;
    all.names = all.names || with_names;
    return all;
  }
  primitive primitives() const { return with_names ? base->primitives | test_and_set : base->primitives; }
};

/// A bound for one N, k and contention.
struct rmr_claim {
  std::string formula;
  rmr_count count = unbounded;
};

/// The claim that `bound` makes, with the cost of names added if there are any: Lemma 1 of Anderson & Moir.
inline rmr_claim claim_of(const rmr_bound& bound, bool with_names, int N, int k, int c) {
  rmr_claim claim{std::string(bound.formula), bound.at(N, k, c)};
  if (!with_names || claim.count == unbounded) return claim;
  switch (bound.when) {
    case bound_case::always:
      return {claim.formula + " + k+1", claim.count + k + 1};
    case bound_case::alone:
      return {claim.formula + " + 2", claim.count + 2};
    case bound_case::contention:
      return {claim.formula + " + c+1", claim.count + c + 1};
  }
  return claim;
}

/// The least number claimed for runs in which at most c of the N processes are outside their remainder; none if the
/// catalogue claims none.
inline std::optional<rmr_claim> rmr_claimed(const choice& algorithm, rmr_model model, int N, int k, int c) {
  std::optional<rmr_claim> least;
  for (const rmr_bound& bound : algorithm.base->bounds) {
    if (bound.at == nullptr || bound.model != model) continue;
    if (bound.when == bound_case::alone && c > 1) continue;
    rmr_claim claim = claim_of(bound, algorithm.with_names, N, k, c);
    if (!least || claim.count < least->count) least = std::move(claim);
  }
  return least;
}

/// Empty if the algorithm can be made for N and k, else one line that says what is allowed.
inline std::string limits_error(const row& algorithm, long long N, long long k) {
  const limits& allowed = algorithm.allowed;
  if (k >= 1 && k <= allowed.k_max && N >= k && N <= allowed.N_max) return "";
  const std::string k_allowed = allowed.k_max < allowed.N_max
                                    ? (allowed.k_max == 1 ? "k = 1" : "1 <= k <= " + std::to_string(allowed.k_max))
                                    : "k >= 1";
  return std::string(algorithm.id) + " needs " + k_allowed + " and k <= N <= " + std::to_string(allowed.N_max) +
         ", but N = " + std::to_string(N) + " and k = " + std::to_string(k);
}

}  // namespace kgate::catalog
