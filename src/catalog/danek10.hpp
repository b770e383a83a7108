// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The algorithms of Danek 2010.

#include <string_view>
#include <tuple>

#include "catalog/entry.hpp"
#include "kgate/algorithms/danek10_figure1.hpp"
#include "kgate/algorithms/danek10_figure2.hpp"
#include "kgate/algorithms/danek10_nonatomic.hpp"

namespace kgate::catalog {

inline constexpr std::string_view danek10_paper = "Danek 2010";

/// What all variants of the k-bakery have in common.
constexpr row k_bakery(row own) {
  own.paper = danek10_paper;
  own.allowed = {.N_max = danek10::processes_max, .k_max = danek10::processes_max};
  own.bounded_variables = false;
  for (const rmr_model model : {rmr_model::cc, rmr_model::dsm})
    own = with_bound(own, {model, bound_case::always, "Theta(N)", nullptr});
  return own;
}

inline constexpr auto danek10_rows = std::tuple{
    entry<plain<danek10::bakery>>{{
        .id = "danek10-bakery",
        .title = "Lamport's bakery, what the k-bakery comes from",
        .paper = danek10_paper,
        .figure = "1",
        .allowed = {.N_max = danek10::processes_max, .k_max = 1},
        .promise = {.despite = crashes::none, .k_fcfs = true, .fife = true},
        .bounded_variables = false,
        .note = "holds on safe registers too: --memory safe",
        .headers = {"danek10_figure1.hpp", "danek10_registers.hpp"},
        .bounds = {{{rmr_model::cc, bound_case::always, "O(N)", nullptr}, unbounded_dsm}},
    }},
    entry<plain<danek10::kfcfs>>{k_bakery({
        .id = "danek10-kfcfs",
        .title = "the k-bakery",
        .figure = "2, unshaded",
        .theorem = "theorem 8",
        .promise = {.k_fcfs = true},
        .headers = {"danek10_figure2.hpp", "danek10_registers.hpp"},
    })},
    entry<plain<danek10::fife>>{k_bakery({
        .id = "danek10-fife",
        .title = "the k-bakery with capture",
        .figure = "2",
        .theorem = "theorem 9",
        .promise = {.k_fcfs = true, .fife = true},
        .headers = {"danek10_figure2.hpp", "danek10_registers.hpp"},
    })},
    entry<plain<danek10::reset>>{k_bakery({
        .id = "danek10-reset",
        .title = "the k-bakery with capture, and tickets that return to 0",
        .figure = "section 7, reconstructed",
        .promise = {.k_fcfs = true, .fife = true},
        .note = "the paper mentions such algorithms and leaves them out",
        .headers = {"danek10_figure2.hpp", "danek10_registers.hpp"},
    })},
    entry<plain<danek10::nonatomic>>{k_bakery({
        .id = "danek10-nonatomic",
        .title = "the k-bakery on safe registers",
        .figure = "3",
        .theorem = "theorem 10",
        .promise = {.k_fcfs = true, .fife = true},
        .needs = registers::safe,
        .headers = {"danek10_nonatomic.hpp", "danek10_registers.hpp"},
    })},
};

}  // namespace kgate::catalog
