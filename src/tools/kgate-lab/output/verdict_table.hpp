// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The results of several checks as one table: for reading, for spreadsheets, for papers.

#include <string>
#include <vector>

#include "lab/checker/properties/check.hpp"

namespace kgate::tool {

/// "holds", "holds within 2 passages", "holds with at most 1 process outside the remainder", "violated", "undecided".
std::string verdict_words(const lab::property_result& r);

enum class table_format { text, csv, latex };

/// One row a check; columns for limits, registers, orders and errors where a row has them, and one column for each
/// property that one of them judged; there must be one. LaTeX is a tabular. What made the results is said in a last
/// line, or, for spreadsheets, in columns; there verdicts are those of JSON.
std::string verdict_table(const std::vector<lab::check_result>& results, table_format format, std::uint64_t seed);

}  // namespace kgate::tool
