// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace kgate::lab {

/// Where a measurement was made and by what: processor, cores, kernel, compiler, version.
nlohmann::json this_machine();

}  // namespace kgate::lab
