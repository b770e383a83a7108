// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a search reached, for people: docs/checker.md, "What a verdict covers".

#include <string>
#include <vector>

#include "catalog/row.hpp"
#include "lab/checker/model/coverage.hpp"

namespace kgate::tool {

/// The labels of the algorithm's text, in its order.
std::vector<std::string> labels_of_algorithm(const catalog::choice& algorithm);

/// Those of the labels at which no access was made.
std::vector<std::string> labels_not_reached(const lab::coverage& reached, std::vector<std::string> labels);

/// "coverage: 8 labels reached, not reached: 3; ...", in lines.
std::string coverage_text(const lab::coverage& reached, const std::vector<std::string>& labels);

}  // namespace kgate::tool
