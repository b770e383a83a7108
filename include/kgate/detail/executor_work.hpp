// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Work outstanding on executors of Asio, whichever, without Asio's headers.

#include <type_traits>

namespace kgate::detail {

/// What a strand, or a strand of a strand, is of; else the executor itself. It has the same context, and is one that
/// work can be outstanding on: that of Asio 1.22 has members for it which do not always compile.
template <class E>
auto innermost_executor(const E& executor) {
  if constexpr (requires { executor.get_inner_executor(); })
    return innermost_executor(executor.get_inner_executor());
  else
    return executor;
}

/// One of Asio's or Boost.Asio's, or one that belongs to a context of theirs.
template <class E>
concept executor_of_asio = requires(const E& e) {
  typename std::remove_cvref_t<decltype(e.context())>::fork_event;
};
/// Lets make_work_guard be found in the namespace of a context.
template <class Context>
struct beside {};
struct no_work {};

/// Work that is outstanding for as long as the result lives: a context of Asio that is run, or joined, to its end does
/// not come to it before.
template <class E>
auto work_on(const E& executor) {
  if constexpr (executor_of_asio<E>) {
    const auto on = innermost_executor(executor);
    using context = beside<std::remove_cvref_t<decltype(on.context())>>;
    static_assert(
        requires { make_work_guard(context(), on); },
        "include asio/executor_work_guard.hpp or boost/asio/executor_work_guard.hpp");
    return make_work_guard(context(), on);
  } else {
    return no_work();
  }
}

}  // namespace kgate::detail
