// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The catalogue's algorithms on the scheduled machine.

#include <functional>
#include <memory>

#include "catalog/row.hpp"
#include "lab/schedules/machine.hpp"

namespace kgate::lab {

/// From now on make_arena() takes this row too, which must stay where it is. Not while another thread makes an arena.
using arena_maker = std::function<std::unique_ptr<schedules::any_arena>(int N, int k, const cost_model& cost)>;
void add_arena(const catalog::row& about, arena_maker make);

/// N and k must be allowed by the row. Null if it is neither in the catalogue nor added.
std::unique_ptr<schedules::any_arena> make_arena(const catalog::choice& algorithm, int N, int k,
                                                 const cost_model& cost);

}  // namespace kgate::lab
