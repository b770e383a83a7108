// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The algorithms of Fischer, Lynch, Burns & Borodin 1979.

#include <string_view>
#include <tuple>

#include "catalog/entry.hpp"
#include "kgate/algorithms/flbb79_bank.hpp"
#include "kgate/algorithms/flbb79_bounded.hpp"
#include "kgate/algorithms/flbb79_buffer_lock.hpp"
#include "kgate/algorithms/flbb79_count.hpp"
#include "kgate/algorithms/flbb79_fifo.hpp"
#include "kgate/algorithms/flbb79_number_lock.hpp"
#include "kgate/algorithms/flbb79_tickets.hpp"
#include "kgate/algorithms/mcs_lock.hpp"

namespace kgate::catalog {

inline constexpr std::string_view flbb79_paper = "Fischer, Lynch, Burns & Borodin 1979";

/// The paper's processes are alike, and wait for one variable of all.
constexpr row in_one_variable(row own) {
  own.paper = flbb79_paper;
  own.symmetric = symmetry::full;
  return with_bound(with_bound(own, unbounded_cc), unbounded_dsm);
}

inline constexpr auto flbb79_rows = std::tuple{
    entry<plain<flbb79::count>>{in_one_variable({
        .id = "flbb79-count",
        .title = "the COUNT semaphore, baseline",
        .figure = "section 1",
        .primitives = fetch_and_add | read_modify_write,
        .promise = {.starvation_free = false},
        .headers = {"flbb79_count.hpp"},
    })},
    entry<shaped<flbb79::bank, mcs_lock>>{in_one_variable({
        .id = "flbb79-bank",
        .title = "the bank teller: a queue, here the MCS lock, in front of COUNT",
        .figure = "section 1",
        .theorem = "theorem 4.1",
        .primitives = fetch_and_add | compare_and_swap | exchange,
        .promise = {.despite = crashes::none},
        .note = "one crash can stop it",
        .headers = {"flbb79_bank.hpp", "mcs_lock.hpp"},
    })},
    entry<shaped<flbb79::bank, flbb79::buffer_lock>>{in_one_variable({
        .id = "flbb79-bank-buffer",
        .title = "the bank teller over a lock in one variable, batch by batch",
        .figure = "section 1",
        .theorem = "theorem 4.1 (a) and (b)",
        .primitives = fetch_and_add | read_modify_write,
        .promise = {.despite = crashes::none},
        .note = "the lock is reconstructed, with as many values as the paper's; one crash can stop it",
        .headers = {"flbb79_bank.hpp", "flbb79_buffer_lock.hpp"},
    })},
    entry<shaped<flbb79::bank, flbb79::number_lock>>{in_one_variable({
        .id = "flbb79-bank-numbers",
        .title = "the bank teller over a lock in one variable, first come first served",
        .figure = "section 1",
        .theorem = "theorem 4.1 (c)",
        .primitives = fetch_and_add | read_modify_write,
        .promise = {.despite = crashes::none, .k_fcfs = true},
        .note = "the lock has N^2 values, no more than the paper's up to N = 3; one crash can stop it",
        .headers = {"flbb79_bank.hpp", "flbb79_number_lock.hpp"},
    })},
    entry<plain<flbb79::tickets>>{in_one_variable({
        .id = "flbb79-tickets",
        .title = "coloured tickets in one variable",
        .figure = "section 4",
        .theorem = "theorem 4.2",
        .primitives = read_modify_write,
        .allowed = {.N_max = flbb79::ticket_word::numbers_max, .k_max = flbb79::ticket_word::valid_max},
        .promise = {.k_fcfs = true, .fife = true, .l_queuelike = true, .overtakings_max = 0},
        .headers = {"flbb79_tickets.hpp"},
    })},
    entry<plain<flbb79::bounded>>{in_one_variable({
        .id = "flbb79-bounded",
        .title = "buckets moved by a supervisor that is done without",
        .figure = "lemmas 4.4 and 4.3",
        .theorem = "theorem 4.3",
        .primitives = read_modify_write,
        .allowed = {.N_max = flbb79::bucket_system<>::processes_max, .k_max = flbb79::robustness_max},
        .promise = {.overtakings_max = 1},
        .native = false,
        .note = "for the laboratory: no real primitive changes so large a variable in one step",
        .headers = {"flbb79_bounded.hpp", "flbb79_supervisor.hpp"},
    })},
    entry<plain<flbb79::fifo>>{in_one_variable({
        .id = "flbb79-fifo",
        .title = "a queue under short names, its supervisor done without",
        .figure = "lemmas 4.5 and 4.3",
        .theorem = "theorem 4.4",
        .primitives = read_modify_write,
        .allowed = {.N_max = flbb79::fifo_system::processes_max, .k_max = flbb79::robustness_max},
        .promise = {.k_fcfs = true, .fife = true, .overtakings_max = 0},
        .native = false,
        .note = "for the laboratory: a completed sketch; no real primitive changes so large a variable in one step",
        .headers = {"flbb79_fifo.hpp", "flbb79_fifo_values.hpp", "flbb79_short_names.hpp", "flbb79_supervisor.hpp"},
    })},
};

}  // namespace kgate::catalog
