// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Which processes are able and which are enabled at a position of a run, in the words of Fischer et al.
/// (properties/enabling.hpp), as far as a bounded search of what may follow shows it. For traces and random runs, where
/// there is no graph of all states; for atomic registers.

#include <cstddef>

#include "lab/checker/model/walker.hpp"

namespace kgate::lab {

class position_in_run {
 public:
  position_in_run(program& p, const walker::position& at) : program_(p), at_(at) {}

  int inside() const { return count(region::critical); }
  int trying() const { return count(region::entry); }
  bool leaving() const { return count(region::exit) > 0; }
  /// Its next step enters.
  bool able(int p);
  /// It is not able, or not after some steps of the others. At most so many positions are met, so an answer of no is
  /// none.
  bool shown_not_enabled(int p, std::size_t positions_max);
  /// It enters after a bounded number of its own steps, whatever the others do (Afek et al.): all that may follow was
  /// searched, at most so many positions.
  bool shown_to_enter(int p, std::size_t positions_max);
  /// Some run, on which it steps and does not leave its region, brings it back to the local state in which it is. At
  /// most so many positions are met, so an answer of no is none.
  bool shown_to_come_back(int p, std::size_t positions_max);
  /// The most that can be enabled, less those shown not to be.
  int enabled_max(std::size_t positions_max);
  /// As many as should be enabled for l-full.
  int enabled_wanted() const;

 private:
  int count(region where) const;

  program& program_;
  const walker::position at_;
};

}  // namespace kgate::lab
