// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a run gave, and how it is told: medians with their spread, and ratios to the peers of the same run.

#include <string>
#include <vector>

#include "harness.hpp"

namespace kgate::bench {

/// The chunks of one peer in one cell.
struct series {
  const peer* who;
  std::vector<sample> samples;
  int hung = 0;

  /// The quantile q of what `of` gives for each undisturbed chunk.
  template <class Of>
  double quantile(double q, Of&& of) const;
  double rate(double q = 0.5) const;      ///< operations a second
  double cpu_per_operation() const;       ///< seconds, median
  double jain() const;                    ///< median
  double most(double sample::*of) const;  ///< maximum
};

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
