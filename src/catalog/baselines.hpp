// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What the papers are compared with.

#include <tuple>

#include "catalog/entry.hpp"
#include "kgate/algorithms/fa_semaphore.hpp"
#include "kgate/algorithms/mcs_lock.hpp"
#include "kgate/algorithms/peterson_k.hpp"

namespace kgate::catalog {

inline constexpr auto baselines_rows = std::tuple{
    entry<plain<fa_semaphore>>{{
        .id = "fa-semaphore",
        .title = "the fetch-and-add semaphore, baseline",
        .paper = "Gottlieb, Lubachevsky & Rudolph 1983",
        .figure = "test-decrement-retest; row of table 1 in Anderson & Moir 1997",
        .primitives = fetch_and_add,
        .promise = {.starvation_free = false},
        .symmetric = symmetry::full,
        .headers = {"fa_semaphore.hpp"},
        .bounds = {{unbounded_cc, unbounded_dsm}},
    }},
    entry<plain<peterson_k>>{{
        .id = "peterson-k",
        .title = "Peterson's algorithm stopped after N-k levels, baseline",
        .paper = "Peterson 1981",
        .figure = "row of table 1 in Anderson & Moir 1997",
        .promise = {.despite = crashes::none},
        .note = "one crash can stop it",
        .headers = {"peterson_k.hpp"},
        .bounds = {{{rmr_model::cc, bound_case::always, "Theta(N^3 - N k^2)", nullptr}, unbounded_dsm}},
    }},
    entry<plain<mcs_lock>>{{
        .id = "mcs",
        .title = "the MCS queue lock, the peer for k = 1",
        .paper = "Mellor-Crummey & Scott 1991",
        .figure = "list-based queuing lock",
        .primitives = compare_and_swap | exchange,
        .allowed = {.k_max = 1},
        .promise = {.bounded_exit = false, .k_fcfs = true},
        .symmetric = symmetry::full,
        .headers = {"mcs_lock.hpp"},
        .bounds = {{{rmr_model::cc, bound_case::always, "10", constant<10>},
                    {rmr_model::dsm, bound_case::always, "4", constant<4>}}},
    }},
};

}  // namespace kgate::catalog
