// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Texts as they are printed, or misread: for study, each with what it loses (docs/errata.md).

#include <tuple>

#include "catalog/afek94.hpp"
#include "catalog/choi11.hpp"
#include "catalog/entry.hpp"
#include "catalog/flbb79.hpp"
#include "kgate/algorithms/afek94_figure2.hpp"
#include "kgate/algorithms/choi11.hpp"
#include "kgate/algorithms/flbb79_bounded.hpp"

namespace kgate::catalog {

constexpr row flbb79_misprint(row own) {
  own.primitives = read_modify_write;
  own.allowed = {.N_max = flbb79::bucket_system<>::processes_max, .k_max = flbb79::robustness_max};
  own.promise = {.deadlock_free = false, .starvation_free = false};
  own.native = false;
  own.headers = {"flbb79_bounded.hpp", "flbb79_supervisor.hpp"};
  return in_one_variable(own);
}
constexpr row choi11_misprint(row own) {
  own.promise.deadlock_free = own.promise.starvation_free = false;
  own.native = false;
  return choi11_variant(own);
}

constexpr row with_bounded_variables(row own) {
  own.bounded_variables = true;
  return own;
}

inline constexpr auto errata_rows = std::tuple{
    entry<plain<flbb79::bounded_printed_order>>{flbb79_misprint({
        .id = "flbb79-bounded-printed-order",
        .title = "as printed: transno after newval",
        .figure = "lemma 4.3",
        .note = "for study: the supervisor loses its way",
    })},
    entry<plain<flbb79::bounded_printed_test>>{flbb79_misprint({
        .id = "flbb79-bounded-printed-test",
        .title = "as printed: gate takes main whole only below k-1",
        .figure = "lemma 4.4",
        .note = "for study: a sleeper in main stops the supervisor",
    })},
    entry<plain<choi11::as_printed>>{choi11_misprint({
        .id = "choi11-as-printed",
        .title = "as printed: its two errors",
        .figure = "section 2.2-2.4",
        .note = "for study: a waiter can starve",
    })},
    entry<plain<choi11::printed_waits>>{choi11_misprint({
        .id = "choi11-as-printed-waits",
        .title = "as printed: wait sets without their own slot",
        .figure = "section 2.4",
        .note = "for study: a waiter can starve with one crash, from n = 3, k = 2",
    })},
    entry<plain<choi11::printed_blocks>>{choi11_misprint({
        .id = "choi11-as-printed-blocks",
        .title = "as printed: N = 2k for k < n <= 2k",
        .figure = "section 2.2",
        .note = "for study: a waiter can starve with two crashes, from n = 4, k = 3",
    })},
    entry<plain<choi11::printed_rounding>>{choi11_misprint({
        .id = "choi11-as-printed-rounding",
        .title = "as printed: parse rounds up",
        .figure = "section 2.3",
        .promise = {.k_exclusion = false, .deadlock_free = false, .starvation_free = false},
        .note = "for study",
    })},
    entry<plain<choi11::printed_patterns>>{choi11_misprint({
        .id = "choi11-as-printed-patterns",
        .title = "as printed: patterns one bit short",
        .figure = "section 2.4",
        .note = "for study",
    })},
    entry<plain<choi11::one_update>>{choi11_misprint({
        .id = "choi11-one-update",
        .title = "misread: each slot updated once",
        .figure = "lines 5 and 6",
        .note = "for study",
    })},
    entry<plain<choi11::descending>>{choi11_misprint({
        .id = "choi11-descending",
        .title = "misread: slots updated in descending order",
        .figure = "line 4",
        .note = "for study",
    })},
    entry<plain<choi11::wrapping>>{with_bounded_variables(choi11_misprint({
        .id = "choi11-wrapping",
        .title = "rounds modulo 4: all variables bounded",
        .figure = "section 4",
        .promise = {.k_exclusion = false, .deadlock_free = false, .starvation_free = false},
        .note = "for study: right only while nobody sleeps for N - k exits of others",
    }))},
    entry<plain<afek94::printed_label>>{flags_and_timestamps({
        .id = "afek94-as-printed",
        .title = "as printed: Label keeps a label that equals the maximum",
        .figure = "2 on 1",
        .allowed = {.N_max = afek94::process_set_max, .k_max = afek94::process_set_max},
        .promise = {.k_exclusion = false, .starvation_free = false},
        .bounded_variables = false,
        .native = false,
        .note = "for study: two processes may hold the largest label for ever, and the later one starves",
        .headers = {"afek94_figure2.hpp", "afek94_timestamps.hpp"},
    })},
};

}  // namespace kgate::catalog
