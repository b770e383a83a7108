// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kgate/detail/cxx20.hpp"

/// Entering a gate between processes with Boost.Asio. Link kgate::gate.
///
/// @code
///   auto inside = co_await kgate::with_boost_asio::async_enter(gpus, executor, use_awaitable);
/// @endcode

#include <boost/asio/async_result.hpp>
#include <exception>
#include <optional>
#include <utility>

#include "kgate/asio/boost.hpp"
#include "kgate/asio/gate_operation.hpp"

namespace kgate::with_boost_asio {

/// Enters with `weight` permits, waiting in the queue of `at` without blocking a thread, and calls the handler, never
/// from within this call: with the permit; or with an exception, system_error (operation_aborted) after a cancellation
/// and else what gate::enter throws. `executor` is where the handler is called, unless the handler has one of its own.
template <class E, class Token>
auto async_enter(gate& at, const E& executor, int weight, Token&& token) {
  return ::boost::asio::async_initiate<Token, void(std::exception_ptr, std::optional<gate::permit>)>(
      detail::gates::begin_asio_entry<detail::boost_asio>{}, token, &at, executor, weight);
}
/// One permit.
template <class E, class Token>
auto async_enter(gate& at, const E& executor, Token&& token) {
  return async_enter(at, executor, 1, std::forward<Token>(token));
}

}  // namespace kgate::with_boost_asio
