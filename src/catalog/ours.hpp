// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The algorithms of this project.

#include <tuple>

#include "catalog/entry.hpp"
#include "kgate/algorithms/kgate_gate.hpp"
#include "kgate/algorithms/ticket_queue.hpp"

namespace kgate::catalog {

inline constexpr auto ours_rows = std::tuple{
    entry<plain<kgate_fifo>>{{
        .id = "kgate",
        .title = "the packed ticket word: what kgate::semaphore runs",
        .paper = "this project",
        .figure = "algorithms/ticket_queue.hpp",
        .primitives = fetch_and_add | compare_and_swap,
        .promise = {.k_fcfs = true, .fife = true, .overtakings_max = 0},
        .symmetric = symmetry::full,
        .bounded_variables = false,
        .note = "tickets wrap after 2^32, too far to explore; tests/semaphore checks it with small words that wrap, "
                "and with "
                "the waiting room in which threads sleep. Here a waiter looks at W, hence the O(N)",
        .headers = {"ticket_queue.hpp", "ticket_word.hpp"},
        .bounds = {{{rmr_model::cc, bound_case::alone, "2", constant<2>},
                    {rmr_model::cc, bound_case::always, "O(N)", nullptr},
                    unbounded_dsm}},
    }},
    entry<plain<kgate_gate>>{{
        .id = "kgate-gate",
        .title = "the gate between processes: one word that names its last operation, helped by all",
        .paper = "this project",
        .figure = "algorithms/gate_protocol.hpp",
        .primitives = compare_and_swap,
        .allowed = {.N_max = 6},
        .promise = {.starvation_free = false, .bounded_exit = false, .k_fcfs = true},
        .bounded_variables = false,
        .note =
            "operations and passages are numbered; tests/gate/lab explores scripts of all its operations with deaths. "
            "Lock-free: one that tries to queue or to leave can be overtaken, a waiter cannot",
        .headers = {"kgate_gate.hpp", "gate_protocol.hpp", "gate_word.hpp"},
        .bounds = {{unbounded_cc, unbounded_dsm}},
    }},
};

}  // namespace kgate::catalog
