// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kgate/detail/cxx20.hpp"

/// An asynchronous operation of Asio that waits in the queue of a semaphore. Include kgate/asio/standalone.hpp or
/// kgate/asio/boost.hpp.

#include <cstddef>
#include <memory>
#include <utility>

#include "kgate/detail/waiting/suspended_request.hpp"
#include "kgate/semaphore.hpp"

namespace kgate::detail {

/// @tparam Library  which Asio: the names this needs of it
/// @tparam E        where the handler is called, unless it says otherwise
template <class Library, class Semaphore, class Handler, class E>
class asio_request : public suspended_request<asio_request<Library, Semaphore, Handler, E>, Semaphore, native_waiter> {
  using base = suspended_request<asio_request, Semaphore, native_waiter>;
  using error_code = typename Library::error_code;
  using executor_type = decltype(Library::executor_of(std::declval<const Handler&>(), std::declval<const E&>()));
  using work_type = decltype(Library::work_on(std::declval<const executor_type&>()));
  using handler_allocator = decltype(Library::allocator_of(std::declval<const Handler&>()));
  using allocator = typename std::allocator_traits<handler_allocator>::template rebind_alloc<asio_request>;
  friend base;

 public:
  /// Begins an operation, which frees itself before its handler is called.
  static void begin(Semaphore& from, const E& executor, std::ptrdiff_t w, Handler&& handler) {
    allocator memory(Library::allocator_of(handler));
    asio_request* const made = std::allocator_traits<allocator>::allocate(memory, 1);
    ::new (static_cast<void*>(made)) asio_request(from, executor, w, std::move(handler));
    made->start(from);
  }

 private:
  struct deleter {
    void operator()(asio_request* r) const {
      allocator memory(Library::allocator_of(r->handler_));
      std::destroy_at(r);
      std::allocator_traits<allocator>::deallocate(memory, r, 1);
    }
  };
  using owner = std::unique_ptr<asio_request, deleter>;
  /// What the executor is given. Destroyed without having been called, as by an io_context at its end, it frees the
  /// request; permits that it was granted do not come back.
  class delivery {
   public:
    using allocator_type = handler_allocator;
    explicit delivery(asio_request* request) noexcept : request_(request) {}
    allocator_type get_allocator() const noexcept { return Library::allocator_of(request_->handler_); }
    void operator()() { deliver(std::move(request_)); }

   private:
    owner request_;
  };

  asio_request(Semaphore& from, const E& executor, std::ptrdiff_t w, Handler&& handler)
      : base(from, w),
        handler_(std::move(handler)),
        executor_(Library::executor_of(handler_, executor)),
        work_(Library::work_on(executor_)) {}

  void start(Semaphore& from) {
    if (this->ends_at_once(from)) return resume();
    Library::on_cancellation(handler_, [this] { this->cancel(); });
    if (!this->suspend(from)) resume();
  }
  /// The handler is never called from here: this may be the thread that released a permit.
  void resume() noexcept {
    const executor_type executor = executor_;  // this object may be gone before post returns
    Library::post(executor, delivery(this));
  }
  static void deliver(owner request) {
    request->finish();
    Library::ignore_cancellation(request->handler_);
    const error_code result = result_of(request->how);
    const work_type work(std::move(request->work_));
    allocator memory(Library::allocator_of(request->handler_));
    Handler handler(std::move(request->handler_));
    asio_request* const gone = request.release();
    std::destroy_at(gone);
    std::allocator_traits<allocator>::deallocate(memory, gone, 1);
    std::move(handler)(result);
  }
  static error_code result_of(outcome how) {
    return how == outcome::acquired  ? error_code{}
           : how == outcome::expired ? Library::aborted()
           : how == outcome::closed  ? Library::closed()
                                     : Library::too_heavy();
  }

  Handler handler_;
  executor_type executor_;
  work_type work_;
};

/// What async_initiate calls with the handler that it made of a token.
template <class Library>
struct begin_asio_request {
  template <class Handler, class Semaphore, class E>
  void operator()(Handler&& handler, Semaphore* from, const E& executor, std::ptrdiff_t w) const {
    asio_request<Library, Semaphore, std::decay_t<Handler>, E>::begin(*from, executor, w, std::move(handler));
  }
};

}  // namespace kgate::detail
