// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Where processes stand, for the invariants of Anderson & Moir's blocks, which a checker evaluates in its states: see
/// docs/own-algorithm.md, `broken_invariant`.

#include <initializer_list>

#include "kgate/detail/machine.hpp"

namespace kgate::am97 {

/// p@{labels}: its next statement is one of these. Inside it is at the critical section, which has a number of its own.
template <class State>
bool is_at(const State& s, int p, std::initializer_list<const char*> labels) {
  if (s.where(p) == region::critical) return false;
  for (const char* label : labels)
    if (s.at(p, label)) return true;
  return false;
}

/// |{p : p@{labels}}|
template <class State>
int count_at(const State& s, std::initializer_list<const char*> labels) {
  int all = 0;
  for (int p = 0; p < s.processes(); ++p) all += is_at(s, p, labels) ? 1 : 0;
  return all;
}

template <class State, class Test>
bool somebody(const State& s, Test test) {
  for (int p = 0; p < s.processes(); ++p)
    if (test(p)) return true;
  return false;
}

}  // namespace kgate::am97
