// SPDX-License-Identifier: Apache-2.0
#pragma once

/// k-assignment from any k-exclusion algorithm: those inside hold distinct names from 0..k-1.
///
/// Source       Anderson & Moir 1997, figure 1, lemma 1; corollaries 1-6 are this over theorems 3, 4, 7, 8, 11 and 12.
/// Promises     those of the inner algorithm, and: the names of those inside are distinct. k+1 remote references more,
///              c+1 at contention c, on CC and DSM. Exit one step longer. Primitives: test-and-set. Space: k variables.
/// Variables    X[i]  boolean  name i is taken     initially false; in traces name.X
///              name  private  0..k-1
/// Invariants   a process about to test X[i] finds some X[j], i <= j < k, false
/// Deviations   none. Statement 5 is printed with a stray "fi". Corollaries 1, 3 and 5 print one remote reference less
///              than lemma 1 gives; lemma 1 is what the catalogue states.
/// Memory model sequential consistency; the release of a name (5) must be visible before the inner release
/// Evidence     tests/algorithms/am97 (distinct names), tests/algorithms/am97/mutants_test (test-and-set dropped),
///              tests/lab/rmr_test, tests/algorithms/native (instructions, stress)

#include <cstddef>

#include "kgate/detail/fixed_array.hpp"
#include "kgate/detail/machine.hpp"

namespace kgate::am97 {

/// Inner is an algorithm on the same machine M.
template <class M, class Inner>
class names {
 public:
  using Process = typename M::Process;
  struct Private {
    int name = 0;
    [[no_unique_address]] typename Inner::Private inner;
  };

  names(typename M::Memory& memory, int N, int k)
      : inner_(memory, N, k), X(static_cast<std::size_t>(k), [&](std::size_t i) {
          return typename M::template Var<bool>(memory, {.name = "name.X", .instance = static_cast<int>(i)}, false);
        }) {}

  void acquire(Process& p, Private& mine) {
    inner_.acquire(p, mine.inner);  // 1
    mine.name = 0;                  // 2
    while (named(mine) && X[static_cast<std::size_t>(mine.name)].test_and_set(p["3"])) ++mine.name;
  }

  void release(Process& p, Private& mine) {
    if (named(mine)) X[static_cast<std::size_t>(mine.name)].write(p["5"], false);
    inner_.release(p, mine.inner);  // 6
  }

 private:
  /// False only if the inner algorithm let more than k through: the checker then sees the name k.
  bool named(const Private& mine) const { return mine.name < static_cast<int>(X.size()); }

  Inner inner_;
  fixed_array<typename M::template Var<bool>> X;
};

}  // namespace kgate::am97
