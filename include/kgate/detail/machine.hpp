// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a machine provides to the algorithm that runs on it.
///
/// An algorithm is a class template over a machine M and is written once; the machine decides what a step is: a
/// std::atomic operation (detail/machines/native.hpp), an edge of the checker's state graph, a counted memory reference
/// of a simulated multiprocessor. The rules that make this work:
///
///  1. Everything processes share is an M::Var. Everything else is a local variable, or a member of the algorithm's
///     `Private` struct: the paper's private variables, made afresh for each passage.
///  2. One call on a Var is one atomic step. Its first argument is the process at the paper's statement, p["4"]; the
///     label appears in traces and tables.
///  3. Every wait is an await: `var.await(p["5"], predicate)` for one variable, `M::await_any(...)` for several. A loop
///     that polls by hand calls p.pause() once a round.
///  4. Predicates and the functions given to rmw are pure: they depend on their argument and on locals only.
///  5. What a process does next depends only on what it has observed. The checker identifies a local state by the
///     observations since the start of the passage; two calls let it forget what no longer matters:
///       - `[[maybe_unused]] auto frame = p.frame();` at the top of a function: what was observed inside is forgotten
///         when the function returns. Only for functions whose result the caller does not use and that leave nothing in
///         Private.
///       - `p.live(a, b)`: from here on, within this frame, only a and b matter.
///     An incomplete `live` would merge states that differ; the checker's audit looks for that.
///
/// An algorithm has the form
///
///     template <class M> class some_algorithm {
///      public:
///       struct Private { ... };
///       some_algorithm(typename M::Memory& memory, int N, int k);
///       void acquire(typename M::Process& p, Private& mine);
///       void release(typename M::Process& p, Private& mine);
///     };
///
/// and, if it assigns names 0..k-1 to those inside, Private has a member `int name`.

#include <concepts>
#include <cstddef>
#include <functional>
#include <type_traits>

#include "kgate/detail/process.hpp"

namespace kgate {

/// Which shared variable this is: the paper's name, the instance of the building block it belongs to (or -1), and the
/// process it is local to on a machine with distributed memory. A variable with a home is one element of an array with
/// an element per process.
struct variable {
  const char* name = "";
  int instance = -1;
  process_id home = nobody;
};

/// Which part of a passage a process is in. The doorway is the part of the entry that ends at p.doorway_end(); an
/// algorithm without that call has no doorway.
enum class region : unsigned char { remainder, entry, critical, exit };

/// An algorithm without private variables.
struct nothing_private {};

namespace detail {
struct any_value {
  template <class... T>
  bool operator()(const T&...) const;
};
template <class V>
struct variable_at {
  V& operator()(std::size_t) const;
};
}  // namespace detail

template <class P>
concept ProcessOf = requires(P& p) {
  { p.id() } -> std::same_as<process_id>;
  { p["1"] } -> std::same_as<P&>;
  p.doorway_end();
  p.frame();
  p.live(1, true);
  p.pause();
};

template <class V, class T, class P>
concept VarOf = requires(V& v, P& p, T value) {
  { v.read(p) } -> std::same_as<T>;
  v.write(p, value);
  { v.exchange(p, value) } -> std::same_as<T>;
  { v.compare_and_swap(p, value, value) } -> std::same_as<bool>;
  { v.rmw(p, std::identity{}) } -> std::same_as<T>;
  v.await(p, detail::any_value{});
  { v.await_value(p, detail::any_value{}) } -> std::same_as<T>;
};

template <class M>
concept Machine = requires {
  typename M::Memory;
  typename M::Process;
  requires ProcessOf<typename M::Process>;
  requires VarOf < typename M::template Var<int>,
  int, typename M::Process > ;
  requires std::constructible_from < typename M::template Var<int>,
  typename M::Memory&, variable, int > ;
}
&&requires(typename M::template Var<int>& count, typename M::template Var<bool>& bit, typename M::Process& p) {
  { count.fetch_add(p, 1) } -> std::same_as<int>;
  { bit.test_and_set(p) } -> std::same_as<bool>;
  {
    M::await_any(p, std::size_t{2}, detail::variable_at<typename M::template Var<int>>{}, detail::any_value{})
    } -> std::same_as<std::size_t>;
};

}  // namespace kgate
