// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The catalogue's algorithms on the scheduled machine.

#include <memory>

#include "catalog/row.hpp"
#include "lab/schedules/machine.hpp"

namespace kgate::lab {

/// N and k must be allowed by the row.
std::unique_ptr<schedules::any_arena> make_arena(const catalog::choice& algorithm, int N, int k,
                                                 const cost_model& cost);

}  // namespace kgate::lab
