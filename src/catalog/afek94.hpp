// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The algorithms of Afek, Dolev, Gafni, Merritt & Shavit 1994.

#include <string_view>
#include <tuple>

#include "catalog/entry.hpp"
#include "kgate/algorithms/afek94_bounded_timestamps.hpp"
#include "kgate/algorithms/afek94_figure2.hpp"

namespace kgate::catalog {

inline constexpr std::string_view afek94_paper = "Afek, Dolev, Gafni, Merritt & Shavit 1994";

/// What figure 2 brings whatever its timestamps are.
constexpr row flags_and_timestamps(row own) {
  own.paper = afek94_paper;
  return with_bound(with_bound(own, unbounded_cc), unbounded_dsm);
}

inline constexpr auto afek94_rows = std::tuple{
    entry<plain<afek94::fife>>{flags_and_timestamps({
        .id = "afek94-fife",
        .title = "flags and unbounded timestamps",
        .figure = "2 on 1",
        .theorem = "lemmas 4.1-4.4",
        .allowed = {.N_max = afek94::process_set_max, .k_max = afek94::process_set_max},
        .promise = {.k_fcfs = true, .fife = true},
        .bounded_variables = false,
        .headers = {"afek94_figure2.hpp", "afek94_timestamps.hpp"},
    })},
    entry<plain<afek94::bounded>>{flags_and_timestamps({
        .id = "afek94-bounded",
        .title = "flags and bounded timestamps",
        .figure = "2",
        .theorem = "lemmas 4.1-4.4",
        .allowed = {.N_max = afek94::labelling::processes_max, .k_max = afek94::labelling::processes_max},
        .promise = {.k_fcfs = true, .fife = true},
        .note = "the timestamps are a reconstruction: docs/decisions",
        .headers = {"afek94_figure2.hpp", "afek94_bounded_timestamps.hpp", "afek94_labelling.hpp",
                    "afek94_timestamps.hpp"},
    })},
};

}  // namespace kgate::catalog
