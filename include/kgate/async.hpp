// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kgate/detail/cxx20.hpp"

/// Coroutines in the queue of a semaphore, among threads, in the same order.
///
/// @code
///   co_await downloads.async_acquire();                                // waits its turn, blocks no thread
///   kgate::permit inside(downloads, std::adopt_lock);
///
///   if (!co_await downloads.async_acquire(stop, 2s, pool.executor())) co_return;   // gave up, or was refused
/// @endcode
///
/// async_acquire takes any of these, in any order:
///   - a number: how many permits;
///   - a std::stop_token: gives up when stop is requested;
///   - a duration or a time point of the steady clock: gives up then. A thread of the library keeps the time;
///   - an executor, something with execute(f), or post(f, allocator), that calls f() soon: where the coroutine goes on
///     if it was suspended. f is a std::coroutine_handle. Without one it goes on in the thread that ended its wait,
///     inside release(), request_stop() or close(): see inline_executor. With a time limit one must be given.
///
/// What the thread that ends a wait calls must not throw: an exception that leaves a coroutine resumed there (its
/// promise's unhandled_exception() throws), or execute(), ends the program by std::terminate.
///
/// With a stop_token or a time limit, co_await gives a bool: false if it gave up or was refused. Without them it gives
/// nothing, and throws kgate::refused. slots::async_acquire gives a slot or, with a limit, a std::optional; and
/// pool::async_borrow a lease, which is empty if it gave up or was refused. The rules are those of acquire: a permit
/// that is free is taken even if stop was requested before, one that comes at the last moment is taken, and a wait
/// that was given up is no longer queued.
///
/// Nothing is allocated; a waiting coroutine's frame holds 72 bytes for it, 160 with a stop_token or time limit. A
/// coroutine may be destroyed while it is queued, if no other thread can grant to it at that moment.

#include <chrono>
#include <concepts>
#include <coroutine>
#include <cstddef>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "kgate/detail/contracts.hpp"
#include "kgate/detail/executor_work.hpp"
#include "kgate/detail/waiting/suspended_request.hpp"
#include "kgate/pool.hpp"
#include "kgate/semaphore.hpp"
#include "kgate/slots.hpp"
#include "kgate/stop_token.hpp"

namespace kgate {

namespace detail {

template <class E>
concept executes = requires(E e, std::coroutine_handle<> h) {
  e.execute(h);
};
/// As many of Asio, whose execute() is for Asio alone.
template <class E>
concept posts = requires(E e, std::coroutine_handle<> h) {
  e.post(h, std::allocator<void>());
};

}  // namespace detail

/// Where coroutines go on.
template <class E>
concept Executor = std::copy_constructible<E> &&(detail::executes<E> || detail::posts<E>);

/// Goes on in the thread that ended the wait: at once, or where that thread is already inside a coroutine resumed so,
/// when that one has returned. So a chain of coroutines that hand a permit to each other needs no stack.
struct inline_executor {
  void execute(std::coroutine_handle<> h) const { h.resume(); }
};

namespace detail {

/// What is called may be the end of the executor's context: it stays until this has returned. Asio's own execute() may
/// resume at once, where the thread is one of the context's, and then a chain of coroutines would need a stack; its
/// post() does not.
template <class E>
void resume_on(E executor, std::coroutine_handle<> h) {
  [[maybe_unused]] const auto work = work_on(executor);
  if constexpr (executor_of_asio<E> && requires { post(executor, h); })
    post(executor, h);
  else if constexpr (executes<E>)
    executor.execute(h);
  else
    executor.post(h, std::allocator<void>());
}

/// The coroutines that this thread is to resume after the one it is in.
class inline_resumptions {
 public:
  /// Resumes the coroutine of r, now or when the one that runs has returned.
  template <class Request>
  static void resume(Request& r) {
    inline_resumptions& mine = of_thread();
    r.goes_on_at = r.handle().address();
    mine.waiting_.add(r);
    if (!mine.running_) mine.run();
  }

 private:
  static inline_resumptions& of_thread() noexcept {
    static thread_local constinit inline_resumptions one;
    return one;
  }
  [[gnu::noinline]] void run() {
    running_ = true;
    while (native_waiter* const w = waiting_.take()) std::coroutine_handle<>::from_address(w->goes_on_at).resume();
    running_ = false;
  }
  waiter_list waiting_;
  bool running_ = false;
};

/// The options given to async_acquire.
struct request_options {
  std::ptrdiff_t permits = 1;
  stop_token stop{};
  wait_limit::clock::time_point deadline = wait_limit::clock::time_point::max();

  void set(std::ptrdiff_t w) noexcept { permits = w; }
  void set(stop_token token) noexcept { stop = std::move(token); }
  template <class Rep, class Period>
  void set(const std::chrono::duration<Rep, Period>& timeout) noexcept {
    deadline = deadline_after(timeout);
  }
  template <class Duration>
  void set(const std::chrono::time_point<wait_limit::clock, Duration>& when) noexcept {
    deadline = deadline_at(when);
  }
  template <Executor E>
  void set(const E&) noexcept {}
};

/// The executor among the options, or the inline one.
template <class... Options>
struct executor_among {
  using type = inline_executor;
  static type of(const Options&...) noexcept { return {}; }
};
template <class First, class... Rest>
struct executor_among<First, Rest...> : executor_among<Rest...> {
  static auto of(const First&, const Rest&... rest) noexcept { return executor_among<Rest...>::of(rest...); }
};
template <Executor First, class... Rest>
struct executor_among<First, Rest...> {
  using type = First;
  static type of(const First& first, const Rest&...) { return first; }
};
template <class T>
inline constexpr bool is_time_limit = false;
template <class Rep, class Period>
inline constexpr bool is_time_limit<std::chrono::duration<Rep, Period>> = true;
template <class Clock, class Duration>
inline constexpr bool is_time_limit<std::chrono::time_point<Clock, Duration>> = true;

/// A coroutine's request: the awaiter of async_acquire. @tparam Limited  by a stop_token, a deadline or both
template <class Semaphore, bool Limited, class E>
class [[nodiscard]] coroutine_request
    : public suspended_request<coroutine_request<Semaphore, Limited, E>, Semaphore,
                               std::conditional_t<Limited, timed_waiter, native_waiter>> {
  using node = std::conditional_t<Limited, timed_waiter, native_waiter>;
  using base = suspended_request<coroutine_request, Semaphore, node>;
  friend base;
  friend inline_resumptions;

 public:
  static constexpr bool never_expires = !Limited;
  coroutine_request(Semaphore& from, const request_options& options, E executor)
      : base(from, options.permits), executor_(std::move(executor)), on_stop_(options.stop, cancel_on_stop{this}) {
    if constexpr (Limited) this->deadline = options.deadline;
  }
  ~coroutine_request() {
    KGATE_EXPECTS(!this->suspended || this->abandon(), "a coroutine is destroyed while it is about to be resumed");
    this->finish();
  }

  bool await_ready() noexcept { return this->ends_at_once(this->semaphore()); }
  bool await_suspend(std::coroutine_handle<> frame) {
    frame_ = frame;
    return this->suspend(this->semaphore());
  }
  auto await_resume() {
    this->finish();
    if constexpr (Limited)
      return this->how == outcome::acquired;
    else
      throw_if_refused(this->how);
  }

 private:
  struct cancel_on_stop {
    coroutine_request* request;
    void operator()() const noexcept { request->cancel(); }
  };
  struct no_callback {
    no_callback(const stop_token&, cancel_on_stop) noexcept {}
  };

  std::coroutine_handle<> handle() const noexcept { return frame_; }
  void resume() noexcept {
    if constexpr (std::is_same_v<E, inline_executor>) {
      inline_resumptions::resume(*this);
    } else {
      resume_on(executor_, handle());  // a copy: this object may be gone before it returns
    }
  }

  std::coroutine_handle<> frame_;
  [[no_unique_address]] E executor_;
  /// The last member: it may call cancel() as soon as it exists.
  [[no_unique_address]] std::conditional_t<Limited, stop_callback<cancel_on_stop>, no_callback> on_stop_;
};

}  // namespace detail

namespace detail {

/// What the options of async_acquire mean for the type of the request.
template <class... Options>
struct options_of {
  static_assert(((std::is_integral_v<Options> || !std::is_convertible_v<Options, std::ptrdiff_t>)&&...),
                "a number of permits is an integer");
  static constexpr bool has_weight = (std::is_integral_v<Options> || ...);
  static constexpr bool has_time_limit = (is_time_limit<Options> || ...);
  static constexpr bool limited = has_time_limit || (std::is_same_v<Options, stop_token> || ...);
  using executors = executor_among<Options...>;
  using executor = typename executors::type;
  static_assert(
      !has_time_limit || (Executor<Options> || ...),
      "with a time limit, say where the coroutine goes on: an executor, with execute(f) or post(f, allocator)");
  template <class Semaphore>
  using request = coroutine_request<Semaphore, limited, executor>;

  static request_options values(const Options&... options) {
    request_options all;
    (all.set(options), ...);
    return all;
  }
};

/// The awaiter of slots: Base is that of their permits.
template <class Slots, bool Limited, class Base>
class [[nodiscard]] slot_request : public Base {
 public:
  template <class E>
  slot_request(Slots& from, const request_options& options, E executor)
      : Base(suspended_slots::permits_of(from), options, std::move(executor)), from_(&from) {}
  auto await_resume() {
    if constexpr (Limited) {
      return Base::await_resume() ? std::optional<std::ptrdiff_t>(suspended_slots::take(*from_)) : std::nullopt;
    } else {
      Base::await_resume();
      return suspended_slots::take(*from_);
    }
  }

 private:
  Slots* from_;
};

/// The awaiter of a pool: Base is that of its slots.
template <class Pool, class Base>
class [[nodiscard]] lease_request : public Base {
 public:
  template <class E>
  lease_request(Pool& from, const request_options& options, E executor)
      : Base(suspended_pool::slots_of(from), options, std::move(executor)), from_(&from) {}
  auto await_resume() { return suspended_pool::lend(*from_, Base::await_resume()); }

 private:
  Pool* from_;
};

}  // namespace detail

template <class Fairness, class WaitPolicy, class Statistics, class Word>
template <class... Options>
auto basic_semaphore<Fairness, WaitPolicy, Statistics, Word>::async_acquire(Options... options) {
  using chosen = detail::options_of<Options...>;
  return typename chosen::template request<basic_semaphore>(*this, chosen::values(options...),
                                                            chosen::executors::of(options...));
}

template <class Fairness, class WaitPolicy, class Statistics>
template <class... Options>
auto basic_slots<Fairness, WaitPolicy, Statistics>::async_acquire(Options... options) {
  using chosen = detail::options_of<Options...>;
  static_assert(!chosen::has_weight, "a slot is one permit");
  using permit_request = typename chosen::template request<detail::permits_type<basic_slots>>;
  return detail::slot_request<basic_slots, chosen::limited, permit_request>(*this, chosen::values(options...),
                                                                            chosen::executors::of(options...));
}

template <class T, class Slots>
template <class... Options>
auto pool<T, Slots>::async_borrow(Options... options) {
  using chosen = detail::options_of<Options...>;
  static_assert(!chosen::has_weight, "a lease is one permit");
  using permit_request = typename chosen::template request<detail::permits_type<Slots>>;
  using slot_request = detail::slot_request<Slots, chosen::limited, permit_request>;
  return detail::lease_request<pool, slot_request>(*this, chosen::values(options...),
                                                   chosen::executors::of(options...));
}

}  // namespace kgate
