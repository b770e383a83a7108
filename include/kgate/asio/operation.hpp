// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kgate/detail/cxx20.hpp"

/// An asynchronous operation of Asio that waits in the queue of a semaphore. Include kgate/asio/standalone.hpp or
/// kgate/asio/boost.hpp.

#include <atomic>
#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>

#include "kgate/detail/waiting/suspended_request.hpp"
#include "kgate/permit.hpp"
#include "kgate/pool.hpp"
#include "kgate/semaphore.hpp"
#include "kgate/slots.hpp"

namespace kgate::detail {

template <class Library>
typename Library::error_code asio_error_of(outcome how) {
  return how == outcome::acquired  ? typename Library::error_code{}
         : how == outcome::expired ? Library::aborted()
         : how == outcome::closed  ? Library::closed()
                                   : Library::too_heavy();
}

/// What a handler is called with: nothing but the error. Permits whose handler is never called do not come back.
struct asio_permits {
  static constexpr bool owns_permits = false;
  template <class Library, class Handler, class Semaphore>
  void call(Handler&& handler, outcome how, Semaphore&, std::ptrdiff_t) const {
    std::move(handler)(asio_error_of<Library>(how));
  }
};
/// An object that hands the permits back, wherever it is dropped.
struct asio_permit_object {
  static constexpr bool owns_permits = true;
  template <class Library, class Handler, class Semaphore>
  void call(Handler&& handler, outcome how, Semaphore& from, std::ptrdiff_t w) const {
    permit its;
    if (how == outcome::acquired) its = permit(from, std::adopt_lock, w);
    std::move(handler)(asio_error_of<Library>(how), std::move(its));
  }
};
template <class Slots>
struct asio_slot_object {
  static constexpr bool owns_permits = true;
  Slots* of;
  template <class Library, class Handler, class Semaphore>
  void call(Handler&& handler, outcome how, Semaphore&, std::ptrdiff_t) const {
    basic_slot<Slots> its;
    if (how == outcome::acquired) its = basic_slot<Slots>(*of, std::adopt_lock, suspended_slots::take(*of));
    std::move(handler)(asio_error_of<Library>(how), std::move(its));
  }
};
/// An exception, since making an object may fail by any.
template <class Pool>
struct asio_lease_object {
  static constexpr bool owns_permits = true;
  Pool* of;
  template <class Library, class Handler, class Semaphore>
  void call(Handler&& handler, outcome how, Semaphore&, std::ptrdiff_t) const {
    typename Pool::lease its;
    std::exception_ptr failure;
    if (how == outcome::acquired) {
      try {
        its = suspended_pool::lend(*of, suspended_slots::take(suspended_pool::slots_of(*of)));
      } catch (...) {
        failure = std::current_exception();
      }
    } else {
      failure = Library::exception_of(asio_error_of<Library>(how));
    }
    std::move(handler)(std::move(failure), std::move(its));
  }
};

/// @tparam Library  which Asio: the names this needs of it
/// @tparam Result   what the handler is called with
/// @tparam E        where the handler is called, unless it says otherwise
template <class Library, class Result, class Semaphore, class Handler, class E>
class asio_request
    : public suspended_request<asio_request<Library, Result, Semaphore, Handler, E>, Semaphore, native_waiter> {
  using base = suspended_request<asio_request, Semaphore, native_waiter>;
  using executor_type = decltype(Library::executor_of(std::declval<const Handler&>(), std::declval<const E&>()));
  using work_type = decltype(Library::work_on(std::declval<const executor_type&>()));
  using handler_allocator = decltype(Library::allocator_of(std::declval<const Handler&>()));
  using allocator = typename std::allocator_traits<handler_allocator>::template rebind_alloc<asio_request>;
  friend base;

 public:
  /// Begins an operation, which frees itself before its handler is called.
  static void begin(Semaphore& from, const E& executor, std::ptrdiff_t w, Result result, Handler&& handler) {
    allocator memory(Library::allocator_of(handler));
    asio_request* const made = std::allocator_traits<allocator>::allocate(memory, 1);
    ::new (static_cast<void*>(made)) asio_request(from, executor, w, result, std::move(handler));
    made->start(from);
  }

 private:
  struct deleter {
    void operator()(asio_request* r) const {
      allocator memory(Library::allocator_of(r->handler_));
      Semaphore& from = r->semaphore();
      const auto granted = static_cast<std::ptrdiff_t>(r->how == outcome::acquired ? r->weight : 0);
      std::destroy_at(r);
      std::allocator_traits<allocator>::deallocate(memory, r, 1);
      if constexpr (Result::owns_permits) {
        if (granted != 0) from.release(granted);
      }
    }
  };
  using owner = std::unique_ptr<asio_request, deleter>;
  /// What the executor is given. Destroyed without having been called, as by an io_context at its end, it frees the
  /// request.
  class delivery {
   public:
    using allocator_type = handler_allocator;
    explicit delivery(asio_request* request) noexcept : request_(request) {}
    allocator_type get_allocator() const noexcept { return Library::allocator_of(request_->handler_); }
    void operator()() { deliver(std::move(request_)); }

   private:
    owner request_;
  };

  asio_request(Semaphore& from, const E& executor, std::ptrdiff_t w, Result result, Handler&& handler)
      : base(from, w),
        result_(result),
        handler_(std::move(handler)),
        executor_(Library::executor_of(handler_, executor)),
        work_(Library::work_on(executor_)) {}

  void start(Semaphore& from) {
    Library::on_cancellation(handler_, [this] { this->end(); });
    if (this->ends_at_once(from)) return resume();
    queued_ = true;
    if (!this->suspend(from)) resume();
  }
  /// A cancellation. One that comes after the permits, but before the handler is called, gives them back: the result is
  /// not looked at any more.
  void end() noexcept {
    cancelled_.store(true);
    if (queued_) this->cancel();
  }
  /// The handler is never called from here: this may be the thread that released a permit.
  void resume() noexcept {
    // This object may be gone before post returns; so may the context, but for the work that is outstanding.
    const executor_type executor = executor_;
    const work_type work = Library::work_on(executor);
    Library::post(executor, delivery(this));
  }
  static void deliver(owner request) {
    Library::ignore_cancellation(request->handler_);
    Semaphore& from = request->semaphore();
    const auto w = static_cast<std::ptrdiff_t>(request->weight);
    const bool too_late = request->how == outcome::acquired && request->cancelled_.load();
    if (too_late) request->how = outcome::expired;
    request->finish();
    const outcome how = request->how;
    const Result result = request->result_;
    const work_type work(std::move(request->work_));
    allocator memory(Library::allocator_of(request->handler_));
    Handler handler(std::move(request->handler_));
    asio_request* const gone = request.release();
    std::destroy_at(gone);
    std::allocator_traits<allocator>::deallocate(memory, gone, 1);
    if (too_late) from.release(w);
    result.template call<Library>(std::move(handler), how, from, w);
  }

  [[no_unique_address]] Result result_;
  Handler handler_;
  executor_type executor_;
  work_type work_;
  bool queued_ = false;  ///< or has been: there is something to withdraw
  std::atomic<bool> cancelled_{false};
};

/// What async_initiate calls with the handler that it made of a token.
template <class Library, class Result>
struct begin_asio_request {
  [[no_unique_address]] Result result{};
  template <class Handler, class Semaphore, class E>
  void operator()(Handler&& handler, Semaphore* from, const E& executor, std::ptrdiff_t w) const {
    using request = asio_request<Library, Result, Semaphore, std::decay_t<Handler>, E>;
    request::begin(*from, executor, w, result, std::decay_t<Handler>(std::forward<Handler>(handler)));
  }
};

}  // namespace kgate::detail
