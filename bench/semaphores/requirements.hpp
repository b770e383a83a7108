// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "report.hpp"

namespace kgate::bench {

/// What is wanted of one cell: `got` is how many times as fast `ours` is as `peer`, or without one its operations a
/// second.
struct judgement {
  std::string cell, ours, peer;
  double got = 0, wanted = 0;

  bool met() const { return got >= wanted; }
};

/// The ratios that the documents promise, as far as they were measured.
std::vector<judgement> judged(const std::vector<result>& results);
/// Prints them; false if one was missed.
bool meets_requirements(const std::vector<judgement>& all);

}  // namespace kgate::bench
