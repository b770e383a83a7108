// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a run gave, and how it is shown: medians with their spread, and ratios to the peers of the same run.

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "harness.hpp"

namespace kgate::bench {

/// The quantile q; 0 of nothing.
double quantile_of(std::vector<double> values, double q);

inline double rate_of(const sample& s) { return s.operations / s.seconds; }
inline double cpu_of(const sample& s) { return s.cpu_seconds / std::max(s.operations, 1.0); }

/// The chunks of one peer in one cell.
struct series {
  const peer* who;
  std::vector<sample> samples;
  int hung = 0;

  /// Those in which no thread lost its processor, one for each round; if there are none, all.
  std::vector<sample> undisturbed() const;
  /// The quantile q of what `of` gives for each of them.
  template <class Of>
  double quantile(double q, Of&& of) const;
  double rate(double q = 0.5) const;      ///< operations a second
  double cpu_per_operation() const;       ///< seconds, median
  double jain() const;                    ///< median
  double most(double sample::*of) const;  ///< maximum
};

/// The median of of(a's chunk) / of(b's chunk), round by round: chunks taken one after the other suffer alike when the
/// machine is busy.
template <class Of>
double median_ratio(const series& a, const series& b, Of&& of) {
  const std::vector<sample> left = a.undisturbed(), right = b.undisturbed();
  std::vector<double> ratios;
  for (std::size_t i = 0; i < std::min(left.size(), right.size()); ++i)
    ratios.push_back(of(left[i]) / std::max(of(right[i]), std::numeric_limits<double>::min()));
  return quantile_of(std::move(ratios), 0.5);
}

struct result {
  cell what;
  std::vector<series> all;
};

/// Where and from what this was measured.
struct context {
  std::string machine, kernel, compiler, build, commit, when;
  double line_ns = 0, futex_ns = 0;
};
context this_context();

void print(const context& here);
void print(const result& r);
struct judgement;
void write_json(const std::string& path, const context& here, const std::vector<result>& results,
                const std::vector<judgement>& judged);

}  // namespace kgate::bench
