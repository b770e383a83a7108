// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kgate/detail/cxx20.hpp"

/// Asynchronous acquire for standalone Asio; kgate/asio/boost.hpp is the same for Boost.Asio.
///
/// @code
///   co_await kgate::with_asio::async_acquire(downloads, executor, asio::use_awaitable);
/// @endcode

#include <asio/associated_allocator.hpp>
#include <asio/associated_cancellation_slot.hpp>
#include <asio/associated_executor.hpp>
#include <asio/async_result.hpp>
#include <asio/error.hpp>
#include <asio/error_code.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/post.hpp>
#include <cstddef>
#include <exception>
#include <system_error>
#include <utility>

#include "kgate/asio/operation.hpp"

namespace kgate::detail {

struct standalone_asio {
  using error_code = ::asio::error_code;
  static error_code aborted() { return ::asio::error::operation_aborted; }
  static error_code closed() { return ::asio::error::shut_down; }
  static error_code too_heavy() { return ::asio::error::invalid_argument; }
  static std::exception_ptr aborted_exception() { return std::make_exception_ptr(std::system_error(aborted())); }
  template <class Handler, class E>
  static auto executor_of(const Handler& handler, const E& otherwise) {
    return ::asio::get_associated_executor(handler, otherwise);
  }
  template <class Handler>
  static auto allocator_of(const Handler& handler) {
    return ::asio::get_associated_allocator(handler);
  }
  template <class E>
  static auto work_on(const E& executor) {
    return ::asio::make_work_guard(executor);
  }
  template <class E, class F>
  static void post(const E& executor, F&& f) {
    ::asio::post(executor, std::forward<F>(f));
  }
  template <class Handler, class F>
  static void on_cancellation(const Handler& handler, F f) {
    auto slot = ::asio::get_associated_cancellation_slot(handler);
    if (slot.is_connected()) slot.assign([f](::asio::cancellation_type) { f(); });
  }
  template <class Handler>
  static void ignore_cancellation(const Handler& handler) {
    auto slot = ::asio::get_associated_cancellation_slot(handler);
    if (slot.is_connected()) slot.clear();
  }
};

}  // namespace kgate::detail

namespace kgate::with_asio {

/// Takes w permits, waiting in the queue of `from` without blocking a thread, and calls the handler, never from
/// within this call: with no error; with operation_aborted after a cancellation; with shut_down if the semaphore is
/// closed; with invalid_argument if it has fewer than w permits. `executor` is where the handler is called, unless the
/// handler has one of its own. A cancellation of any type ends the wait.
template <class Semaphore, class E, class Token>
auto async_acquire(Semaphore& from, const E& executor, std::ptrdiff_t w, Token&& token) {
  return ::asio::async_initiate<Token, void(::asio::error_code)>(detail::begin_asio_request<detail::standalone_asio>{},
                                                                 token, &from, executor, w);
}
/// One permit.
template <class Semaphore, class E, class Token>
auto async_acquire(Semaphore& from, const E& executor, Token&& token) {
  return async_acquire(from, executor, 1, std::forward<Token>(token));
}

}  // namespace kgate::with_asio
