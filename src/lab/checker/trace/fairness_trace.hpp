// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Traces of the properties of fairness.hpp, judged by running them: neither the explorer nor the state graph takes
/// part.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lab/checker/trace/trace.hpp"

namespace kgate::lab {

/// Which processes were past their doorways before which others, in a run that is followed step by step.
class doorway_order {
 public:
  explicit doorway_order(int N)
      : first_(static_cast<std::size_t>(N), std::vector<bool>(static_cast<std::size_t>(N), false)) {}

  /// Makes the step that an entry of a schedule names.
  step_record step(walker& w, int entry);
  /// The processes that were past their doorway before q started its present passage, and are so still.
  std::vector<int> before(int q) const;

  static bool past_doorway(const walker& w, int p) { return w.local(p).where == region::entry && w.local(p).waiting; }

 private:
  std::vector<std::vector<bool>> first_;  ///< [q][p]
};

/// The bound in bounded-waiting:B, which a finite run can break; none of another property.
std::optional<int> overtakings_allowed(std::string_view property);

/// The same of bounded-overtaking:B.
std::optional<int> passings_allowed(std::string_view property);

bool is_fairness(std::string_view property);

/// As validate(), for a property that is_fairness(); the processes of the trace exist.
std::string judge_fairness(const trace& t, program& p);

}  // namespace kgate::lab
