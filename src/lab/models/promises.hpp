// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a row of the catalogue promises, in the names of the checker's properties, and where the row comes from.

#include <string>
#include <string_view>
#include <vector>

#include "catalog/row.hpp"

namespace kgate::lab {

/// The properties promised, by the names that check() gives them where it can check them.
std::vector<std::string> promised_properties(const catalog::promises& promise);
/// The same as far as search_schedules() can look for it.
std::vector<std::string> searched_promises(const catalog::choice& algorithm);
/// What check() judges by default: the basic properties and those promised; by symmetry only those of single
/// states.
std::vector<std::string> default_properties(const catalog::choice& algorithm, bool symmetry);
/// Whether the algorithm promises this property if so many processes may crash.
bool is_promised(const catalog::choice& algorithm, std::string_view property, int N, int k, int crashes);
/// "at most k-1 crashes".
std::string_view despite_text(catalog::crashes despite);

/// "figure 3", "section 2".
std::string figure_text(const catalog::row& row);
/// "Anderson & Moir 1997, figure 3; theorem 1".
std::string source_text(const catalog::row& row);

}  // namespace kgate::lab
