// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What Anderson & Moir observe in their figures 10 and 11, asked of other measurements of the same experiment. Each
/// answer follows from the figures alone by the rule that is written beside it.

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "lab/experiments/queue_curves.hpp"

namespace kgate::lab {

enum class answer { unknown, yes, no };
const char* to_string(answer a);

struct queue_observation {
  std::string id;
  std::string claim;  ///< as the paper has it
  std::string rule;   ///< when the answer is yes
  answer holds = answer::unknown;
  std::string evidence;  ///< the figures, or why there is no answer
};

/// The median of the repetitions with P processes; none if there are none.
std::optional<double> median_seconds(const queue_curve& curve, int processes);
const queue_curve* find_curve(const queue_curves& all, const std::string& id);

/// The seven observations. The evidence of the last also tells how `other` compares, the machine of the other figure.
std::vector<queue_observation> observe(const queue_curves& all, const queue_curves* other = nullptr);

nlohmann::json to_json(const queue_curves& all);
nlohmann::json to_json(const std::vector<queue_observation>& observations);

}  // namespace kgate::lab
