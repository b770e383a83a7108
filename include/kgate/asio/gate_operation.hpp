// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kgate/detail/cxx20.hpp"

/// An asynchronous operation of Asio that stands in the queue of a gate. Include kgate/asio/standalone_gate.hpp or
/// kgate/asio/boost_gate.hpp.

#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <utility>

#include "kgate/enter_event.hpp"

namespace kgate::detail::gates {

/// @tparam Library  which Asio: the names this needs of it
/// @tparam E        where the handler is called, unless it says otherwise
template <class Library, class Handler, class E>
class asio_entry final : private suspended_entry {
  using executor_type = decltype(Library::executor_of(std::declval<const Handler&>(), std::declval<const E&>()));
  using work_type = decltype(Library::work_on(std::declval<const executor_type&>()));

 public:
  /// Begins an operation, which frees itself before its handler is called.
  static void begin(gate& at, const E& executor, int weight, Handler&& handler) {
    std::unique_ptr<gate::member> member;
    std::exception_ptr failure;
    try {
      member = std::make_unique<gate::member>(at.join());
    } catch (...) {
      failure = std::current_exception();
    }
    if (failure) return fail(std::move(handler), executor, std::move(failure));
    (new asio_entry(std::move(member), executor, std::move(handler)))->start(weight);
  }

 private:
  using owner = std::unique_ptr<asio_entry>;
  /// What the executor is given. Destroyed without having been called it frees the request, and a member that got
  /// inside leaves.
  struct delivery {
    owner entry;
    void operator()() { deliver(std::move(entry)); }
  };
  friend std::default_delete<asio_entry>;

  asio_entry(std::unique_ptr<gate::member> member, const E& executor, Handler&& handler)
      : suspended_entry(*member),
        member_(std::move(member)),
        handler_(std::move(handler)),
        executor_(Library::executor_of(handler_, executor)),
        work_(Library::work_on(executor_)) {}
  ~asio_entry() override { abandon(); }

  void start(int weight) {
    Library::on_cancellation(handler_, [this] { this->cancel(); });
    try {
      if (suspended_entry::begin(weight, std::chrono::nanoseconds::max())) return;
    } catch (...) {
      failure_ = std::current_exception();
    }
    resume();
  }
  static void fail(Handler handler, const E& otherwise, std::exception_ptr failure) {
    const executor_type executor = Library::executor_of(handler, otherwise);
    Library::post(executor, [handler = std::move(handler), failure = std::move(failure)]() mutable {
      std::move(handler)(std::move(failure), std::optional<gate::permit>());
    });
  }
  bool on_end() noexcept override { return true; }
  /// The handler is never called from here: this may be a thread of the library.
  void resume() noexcept override {
    // This object may be gone before post returns; so may the context, but for the work that is outstanding.
    const executor_type executor = executor_;
    const work_type work = Library::work_on(executor);
    Library::post(executor, delivery{owner(this)});
  }
  static void deliver(owner entry) {
    Library::ignore_cancellation(entry->handler_);
    std::optional<gate::permit> inside;
    std::exception_ptr failure = std::move(entry->failure_);
    try {
      if (!failure && entry->finish()) inside = permit_of(std::move(entry->member_));
      if (!failure && !inside) failure = Library::exception_of(Library::aborted());
    } catch (...) {
      failure = std::current_exception();
    }
    const work_type work(std::move(entry->work_));
    Handler handler(std::move(entry->handler_));
    entry.reset();
    std::move(handler)(std::move(failure), std::move(inside));
  }

  std::unique_ptr<gate::member> member_;
  Handler handler_;
  executor_type executor_;
  work_type work_;
  std::exception_ptr failure_;
};

/// What async_initiate calls with the handler that it made of a token.
template <class Library>
struct begin_asio_entry {
  template <class Handler, class E>
  void operator()(Handler&& handler, gate* at, const E& executor, int weight) const {
    using operation = asio_entry<Library, std::decay_t<Handler>, E>;
    operation::begin(*at, executor, weight, std::decay_t<Handler>(std::forward<Handler>(handler)));
  }
};

}  // namespace kgate::detail::gates
