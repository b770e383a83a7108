// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kgate/detail/cxx20.hpp"

/// Asynchronous acquire for Boost.Asio; kgate/asio/standalone.hpp is the same for standalone Asio.
///
/// @code
///   co_await kgate::with_boost_asio::async_acquire(downloads, executor, boost::asio::use_awaitable);
/// @endcode
///
/// Operations can be cancelled one by one from Boost 1.77 on, which brought cancellation slots. Tested are those of
/// standalone Asio under Boost's names.

#include <boost/asio/associated_allocator.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/version.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/system_error.hpp>
#if BOOST_ASIO_VERSION >= 101900
#include <boost/asio/associated_cancellation_slot.hpp>
#endif
#include <cstddef>
#include <exception>
#include <utility>

#include "kgate/asio/operation.hpp"
#include "kgate/detail/executor_work.hpp"

namespace kgate::detail {

struct boost_asio {
  using error_code = ::boost::system::error_code;
  static error_code aborted() { return ::boost::asio::error::operation_aborted; }
  static error_code closed() { return ::boost::asio::error::shut_down; }
  static error_code too_heavy() { return ::boost::asio::error::invalid_argument; }
  static std::exception_ptr exception_of(error_code e) {
    return std::make_exception_ptr(::boost::system::system_error(e));
  }
  template <class Handler, class E>
  static auto executor_of(const Handler& handler, const E& otherwise) {
    return ::boost::asio::get_associated_executor(handler, otherwise);
  }
  template <class Handler>
  static auto allocator_of(const Handler& handler) {
    return ::boost::asio::get_associated_allocator(handler);
  }
  template <class E>
  static auto work_on(const E& executor) {
    return ::boost::asio::make_work_guard(innermost_executor(executor));
  }
  template <class E, class F>
  static void post(const E& executor, F&& f) {
    ::boost::asio::post(executor, std::forward<F>(f));
  }
#if BOOST_ASIO_VERSION >= 101900
  template <class Handler, class F>
  static void on_cancellation(const Handler& handler, F f) {
    auto slot = ::boost::asio::get_associated_cancellation_slot(handler);
    if (slot.is_connected()) slot.assign([f](::boost::asio::cancellation_type) { f(); });
  }
  template <class Handler>
  static void ignore_cancellation(const Handler& handler) {
    auto slot = ::boost::asio::get_associated_cancellation_slot(handler);
    if (slot.is_connected()) slot.clear();
  }
#else
  template <class Handler, class F>
  static void on_cancellation(const Handler&, F) {}
  template <class Handler>
  static void ignore_cancellation(const Handler&) {}
#endif
};

}  // namespace kgate::detail

namespace kgate::with_boost_asio {

/// Takes w permits, waiting in the queue of `from` without blocking a thread, and calls the handler, never from
/// within this call: with no error; with operation_aborted after a cancellation; with shut_down if the semaphore is
/// closed; with invalid_argument if it has fewer than w permits. `executor` is where the handler is called, unless the
/// handler has one of its own. A cancellation of any type ends the wait; permits that came before it go back if the
/// handler has not been called yet.
///
/// Without an error the permits are the handler's to hand back. Where a result may be dropped, as by an || of two
/// operations, use async_permit.
template <class Semaphore, class E, class Token>
auto async_acquire(Semaphore& from, const E& executor, std::ptrdiff_t w, Token&& token) {
  return ::boost::asio::async_initiate<Token, void(::boost::system::error_code)>(
      detail::begin_asio_request<detail::boost_asio, detail::asio_permits>{}, token, &from, executor, w);
}
/// One permit.
template <class Semaphore, class E, class Token>
auto async_acquire(Semaphore& from, const E& executor, Token&& token) {
  return async_acquire(from, executor, 1, std::forward<Token>(token));
}

/// The same, and the handler gets a kgate::permit as well, which is empty after an error: whatever drops it, or the
/// operation with all it has, hands the permits back. The semaphore must outlive both.
template <class Semaphore, class E, class Token>
auto async_permit(Semaphore& from, const E& executor, std::ptrdiff_t w, Token&& token) {
  return ::boost::asio::async_initiate<Token, void(::boost::system::error_code, permit)>(
      detail::begin_asio_request<detail::boost_asio, detail::asio_permit_object>{}, token, &from, executor, w);
}
/// One permit.
template <class Semaphore, class E, class Token>
auto async_permit(Semaphore& from, const E& executor, Token&& token) {
  return async_permit(from, executor, 1, std::forward<Token>(token));
}

/// The same for a slot: the handler gets the error and a kgate::basic_slot<Slots>.
template <class Slots, class E, class Token>
auto async_slot(Slots& from, const E& executor, Token&& token) {
  using result = detail::asio_slot_object<Slots>;
  return ::boost::asio::async_initiate<Token, void(::boost::system::error_code, basic_slot<Slots>)>(
      detail::begin_asio_request<detail::boost_asio, result>{{&from}}, token,
      &detail::suspended_slots::permits_of(from), executor, std::ptrdiff_t{1});
}

/// The same for an object of a pool: the handler gets a std::exception_ptr and a lease. The exception is a system_error
/// with one of the errors above, or what making the object threw.
template <class Pool, class E, class Token>
auto async_borrow(Pool& from, const E& executor, Token&& token) {
  using result = detail::asio_lease_object<Pool>;
  return ::boost::asio::async_initiate<Token, void(std::exception_ptr, typename Pool::lease)>(
      detail::begin_asio_request<detail::boost_asio, result>{{&from}}, token,
      &detail::suspended_slots::permits_of(detail::suspended_pool::slots_of(from)), executor, std::ptrdiff_t{1});
}

}  // namespace kgate::with_boost_asio
