// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The one table of the algorithms. Tests, tools, benchmarks and documents iterate over it: a new algorithm is a text
/// in include/kgate/algorithms and an entry in the file of its paper. The id with "+names" behind it stands for
/// figure 1 of Anderson & Moir over it.
///
///     catalog::for_each([](const catalog::row& row, auto tag) {
///       using Algorithm = typename decltype(tag)::template on<native<>>;
///       using Named = typename catalog::names_over<decltype(tag)>::template on<native<>>;
///     });

#include <array>
#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "catalog/afek94.hpp"
#include "catalog/am97.hpp"
#include "catalog/baselines.hpp"
#include "catalog/choi11.hpp"
#include "catalog/classics.hpp"
#include "catalog/danek10.hpp"
#include "catalog/entry.hpp"
#include "catalog/errata.hpp"
#include "catalog/flbb79.hpp"
#include "catalog/ours.hpp"
#include "catalog/row.hpp"

namespace kgate::catalog {

/// The suffix that asks for figure 1 over an algorithm.
inline constexpr std::string_view names_suffix = "+names";

inline constexpr auto table = std::tuple_cat(am97_rows, flbb79_rows, danek10_rows, choi11_rows, afek94_rows, ours_rows,
                                             baselines_rows, classics_rows, errata_rows);

/// Calls f(row, tag) for every entry, in the order of the table.
template <class F>
constexpr void for_each(F&& f) {
  std::apply([&](const auto&... one) { (f(one.about, typename std::remove_cvref_t<decltype(one)>::tag{}), ...); },
             table);
}

/// The same for the entries that make sense on the native machine; f is not even instantiated for the others, whose
/// shared variables may be larger than a machine has atomic operations for.
template <class F>
constexpr void for_each_native(F&& f) {
  const auto call = [&]<std::size_t I>(std::integral_constant<std::size_t, I>) {
    constexpr const auto& one = std::get<I>(table);
    if constexpr (one.about.native) f(one.about, typename std::remove_cvref_t<decltype(one)>::tag{});
  };
  [&]<std::size_t... I>(std::index_sequence<I...>) { (call(std::integral_constant<std::size_t, I>{}), ...); }
  (std::make_index_sequence<std::tuple_size_v<std::remove_cvref_t<decltype(table)>>>{});
}

/// The rows alone.
inline constexpr auto rows =
    std::apply([](const auto&... one) { return std::array<const row*, sizeof...(one)>{&one.about...}; }, table);

/// The algorithm with this id, which may end in "+names"; empty if there is none.
inline choice find(std::string_view id) {
  const bool with_names = id.ends_with(names_suffix);
  if (with_names) id.remove_suffix(names_suffix.size());
  for (const row* one : rows)
    if (one->id == id) return {one, with_names};
  return {};
}

}  // namespace kgate::catalog
