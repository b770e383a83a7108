// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The classics of mutual exclusion, k = 1. Peterson's is peterson-k with k = 1 and the MCS lock is mcs, both among the
/// baselines.

#include <tuple>

#include "catalog/entry.hpp"
#include "kgate/algorithms/burns_lynch.hpp"
#include "kgate/algorithms/clh_lock.hpp"
#include "kgate/algorithms/dekker.hpp"
#include "kgate/algorithms/lamport_bakery.hpp"
#include "kgate/algorithms/ticket_lock.hpp"

namespace kgate::catalog {

/// With k = 1 no crash may happen: k-1 is none.
inline constexpr auto classics_rows = std::tuple{
    entry<plain<dekker>>{{
        .id = "dekker",
        .title = "Dekker's algorithm for two processes",
        .paper = "Dijkstra 1968",
        .figure = "section 2.1",
        .allowed = {.N_max = 2, .k_max = 1},
        .headers = {"dekker.hpp"},
        .bounds = {{{rmr_model::cc, bound_case::always, "13", constant<13>}, unbounded_dsm}},
    }},
    entry<plain<lamport_bakery>>{{
        .id = "bakery",
        .title = "Lamport's bakery",
        .paper = "Lamport 1974",
        .figure = "the algorithm",
        .allowed = {.k_max = 1},
        .promise = {.k_fcfs = true},
        .bounded_variables = false,
        .note = "safe registers suffice: --memory safe",
        .headers = {"lamport_bakery.hpp"},
        .bounds = {{{rmr_model::cc, bound_case::always, "Theta(N)", nullptr}, unbounded_dsm}},
    }},
    entry<plain<burns_lynch>>{{
        .id = "burns-lynch",
        .title = "the one-bit algorithm of Burns and Lynch",
        .paper = "Burns & Lynch 1993",
        .figure = "section 4",
        .allowed = {.k_max = 1},
        .promise = {.starvation_free = false},
        .headers = {"burns_lynch.hpp"},
        .bounds = {{unbounded_cc, unbounded_dsm}},
    }},
    entry<plain<ticket_lock>>{{
        .id = "ticket",
        .title = "the ticket lock",
        .paper = "Mellor-Crummey & Scott 1991",
        .figure = "section 2.2",
        .primitives = fetch_and_add,
        .allowed = {.k_max = 1},
        .promise = {.k_fcfs = true, .fife = true},
        .symmetric = symmetry::full,
        .bounded_variables = false,
        .headers = {"ticket_lock.hpp"},
        .bounds = {{{rmr_model::cc, bound_case::always, "N + 2", +[](int N, int, int) -> rmr_count { return N + 2; }},
                    unbounded_dsm}},
    }},
    entry<plain<clh_lock>>{{
        .id = "clh",
        .title = "the CLH queue lock",
        .paper = "Craig 1993",
        .figure = "also Magnusson, Landin & Hagersten 1994",
        .primitives = exchange,
        .allowed = {.k_max = 1},
        .promise = {.k_fcfs = true, .fife = true},
        .headers = {"clh_lock.hpp"},
        .bounds = {{{rmr_model::cc, bound_case::always, "7", constant<7>}, unbounded_dsm}},
    }},
};

}  // namespace kgate::catalog
