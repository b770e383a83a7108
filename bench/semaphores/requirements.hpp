// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "report.hpp"

namespace kgate::bench {

/// Prints the ratios that the documents promise, as far as they were measured; false if one was missed.
bool meets_requirements(const std::vector<result>& results);

}  // namespace kgate::bench
