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

/// Where the algorithm was published.
std::vector<std::string> references_of(const catalog::choice& algorithm);

}  // namespace kgate::tool
