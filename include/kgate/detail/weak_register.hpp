// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Registers for algorithms that bear weak ones, and the fences such an algorithm asks for.
///
/// A Var is sequentially consistent, and every write of one pays for that. A machine may also offer
///
///     M::Register<T>      read and write only: a read acquires, a write releases. So the accesses of one process are
///                         seen in their order by all, except that it may read before an earlier write of its own is
///     seen. M::Process::fence() what this process wrote is seen by all before it reads on
///
/// and then an algorithm that uses weak_register and fence(p["4"]) runs on these. On a machine that has neither, a
/// register is a Var, each of whose accesses takes effect before the next, and a fence is nothing.

#include "kgate/detail/machine.hpp"

namespace kgate {

namespace detail {

template <class M, class T>
struct weak_register_of {
  using type = typename M::template Var<T>;
};
template <class M, class T>
requires requires { typename M::template Register<T>; }
struct weak_register_of<M, T> {
  using type = typename M::template Register<T>;
};

}  // namespace detail

template <class M, class T>
using weak_register = typename detail::weak_register_of<M, T>::type;

template <class P>
void fence([[maybe_unused]] P& p) {
  if constexpr (requires { p.fence(); }) p.fence();
}

}  // namespace kgate
