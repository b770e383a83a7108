// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace kgate::lab {

/// A deliberate error, made in the machine and not in the algorithm's text: every statement with the paper's label
/// `label` is carried out wrongly. The checker must notice; tests/algorithms holds it to that, and `check --mutate`
/// shows it.
struct mutation {
  enum class kind {
    drop,   ///< leave the statement out: nothing is written, an observer sees false or zero, a wait is over at once
    force,  ///< no access is made and the statement observes `value`
    defer,  ///< carry the statement out only after the access that follows it (two adjacent statements swapped)
  };
  kind what = kind::drop;
  std::string label;
  long value = 0;

  /// Reads drop:LABEL, force:LABEL=VALUE or defer:LABEL. Throws std::invalid_argument that says what is allowed.
  static mutation parse(const std::string& text);
  std::string text() const;
};

using mutations = std::vector<mutation>;

}  // namespace kgate::lab
