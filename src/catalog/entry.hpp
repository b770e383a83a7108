// SPDX-License-Identifier: Apache-2.0
#pragma once

/// An entry of the catalogue: a row, and how to make the algorithm's class for a machine.

#include <cstddef>

#include "catalog/row.hpp"
#include "kgate/algorithms/am97_names.hpp"

namespace kgate::catalog {

/// Tags: how to make the class of an algorithm for a machine.
template <template <class...> class Algorithm>  // a pack: parameters with defaults may follow the machine
struct plain {
  template <class M>
  using on = Algorithm<M>;
};
template <template <class, template <class> class> class Shape, template <class> class Block>
struct shaped {
  template <class M>
  using on = Shape<M, Block>;
};
template <class Tag>
struct names_over {
  template <class M>
  using on = am97::names<M, typename Tag::template on<M>>;
};

template <class Tag>
struct entry {
  using tag = Tag;
  row about;
};

constexpr rmr_count without_bound(int, int, int) { return unbounded; }
template <int Count>
constexpr rmr_count constant(int, int, int) {
  return Count;
}
inline constexpr rmr_bound unbounded_cc{rmr_model::cc, bound_case::always, "unbounded", without_bound};
inline constexpr rmr_bound unbounded_dsm{rmr_model::dsm, bound_case::always, "unbounded", without_bound};

/// The row with one more claim, in its first unused entry.
constexpr row with_bound(row own, const rmr_bound& more) {
  std::size_t unused = 0;
  while (!own.bounds.at(unused).formula.empty()) ++unused;
  own.bounds.at(unused) = more;
  return own;
}

}  // namespace kgate::catalog
