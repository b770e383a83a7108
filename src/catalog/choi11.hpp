// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The algorithms of Choi 2011.

#include <string_view>
#include <tuple>

#include "catalog/entry.hpp"
#include "kgate/algorithms/choi11.hpp"

namespace kgate::catalog {

inline constexpr std::string_view choi11_paper = "Choi 2011";

/// What all variants of the text have in common.
constexpr row choi11_variant(row own) {
  own.paper = choi11_paper;
  own.primitives = fetch_and_add | compare_and_swap;
  own.symmetric = symmetry::full;
  own.bounded_variables = false;
  own.headers = {"choi11.hpp", "choi11_sets.hpp"};
  return with_bound(own, unbounded_dsm);
}

inline constexpr auto choi11_rows = std::tuple{
    entry<plain<choi11::corrected>>{choi11_variant({
        .id = "choi11",
        .title = "tickets, wait sets and release sets",
        .figure = "section 2",
        .promise = {.k_fcfs = true, .fife = true},
        .note = "needs a smart cache: a failed CAS disturbs no reader",
        .bounds = {{{rmr_model::cc, bound_case::always, "O(log k)", nullptr}}},
    })},
    entry<plain<choi11::compact>>{choi11_variant({
        .id = "choi11-compact",
        .title = "the same in the space the paper promises, n + k + 1",
        .figure = "section 2, repaired",
        .promise = {.k_fcfs = true, .fife = true},
        .note = "needs a smart cache: a failed CAS disturbs no reader",
        .bounds = {{{rmr_model::cc, bound_case::always, "O(log k)", nullptr}}},
    })},
    entry<plain<choi11::amortized>>{choi11_variant({
        .id = "choi11-amortized",
        .title = "the same with a larger array, for ordinary caches",
        .figure = "section 3.7.5",
        .promise = {.k_fcfs = true, .fife = true},
        .bounds = {{{rmr_model::cc, bound_case::always, "O(log k) amortized", nullptr}}},
    })},
    entry<plain<choi11::linear>>{choi11_variant({
        .id = "choi11-linear",
        .title = "a slot for each waiter, k + 1 writes for a leaver: what it improves on",
        .figure = "section 2.1; Decker & Jayanti 2010, reconstructed",
        .promise = {.k_fcfs = true, .fife = true},
        .note = "needs a smart cache: a failed CAS disturbs no reader",
        .bounds = {{{rmr_model::cc, bound_case::always, "O(k)", nullptr}}},
    })},
};

}  // namespace kgate::catalog
