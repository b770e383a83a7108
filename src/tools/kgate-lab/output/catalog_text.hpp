// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What the catalogue says, as words and as JSON.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "catalog/row.hpp"
#include "lab/models/promises.hpp"
#include "tools/kgate-lab/embedded_sources.hpp"

namespace kgate::tool {

/// Every field of the row that the algorithm is made of.
nlohmann::json to_json(const catalog::choice& algorithm);

/// "CC", "DSM".
std::string_view model_text(catalog::rmr_model model);
/// The formula with the runs it holds for, and with the cost of names if there are any.
std::string bound_text(const catalog::rmr_bound& bound, bool with_names);
bool is_unbounded(const catalog::rmr_bound& bound);

/// The files the algorithm is written in, the shape first.
std::vector<embedded_source> sources_of(const catalog::choice& algorithm);
/// The statements of the paper that a text carries, in its order, with their lines.
std::vector<std::pair<std::string, int>> labels_of(std::string_view text);

/// A statement of the paper as the text has it, without what only the machine needs.
struct labelled_statement {
  std::string function;  ///< it is in: acquire, release, or one they call
  std::string label;
  int line = 0;
  std::size_t depth = 0;  ///< of nesting in its function
  std::string text;
};
std::vector<labelled_statement> statements_of(std::string_view text);

/// The name by which a file is shown.
std::string shown_name(const catalog::choice& algorithm, const embedded_source& source);
/// The files with their labels, for pages and programs.
nlohmann::json texts_json(const catalog::choice& algorithm);

/// Where the algorithm was published.
std::vector<std::string> references_of(const catalog::choice& algorithm);

}  // namespace kgate::tool
