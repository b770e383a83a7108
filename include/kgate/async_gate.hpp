// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kgate/detail/cxx20.hpp"

/// Coroutines in the queue of a gate between processes.
///
/// @code
///   kgate::gate::permit inside = co_await gpus.async_enter(pool.executor());
///
///   auto maybe = co_await gpus.async_enter(pool.executor(), stop, 10s);      // std::optional: nothing if it gave up
/// @endcode
///
/// async_enter takes any of these, in any order: an executor, which must be given (what ends a wait is often a thread
/// of the library); a number, the weight; a std::stop_token; a duration or a time point of the steady clock. The rules
/// are those of gate::enter, and it throws gate_error as that does. Link kgate::gate.

#include <algorithm>
#include <chrono>
#include <coroutine>
#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "kgate/async.hpp"
#include "kgate/detail/contracts.hpp"
#include "kgate/enter_event.hpp"
#include "kgate/stop_token.hpp"

namespace kgate {

namespace detail::gates {

/// The awaiter of async_enter. @tparam Limited  by a stop_token, a deadline or both
template <bool Limited, class E>
class [[nodiscard]] coroutine_entry final : private suspended_entry {
 public:
  coroutine_entry(std::unique_ptr<gate::member> member, const request_options& options, E executor)
      : suspended_entry(*member),
        member_(std::move(member)),
        options_(options),
        executor_(std::move(executor)),
        on_stop_(options.stop, call_cancel{this}) {}
  ~coroutine_entry() override { abandon(); }

  bool await_ready() {
    if (!member_->try_enter(weight())) return false;
    entered_ = true;
    return true;
  }
  bool await_suspend(std::coroutine_handle<> frame) {
    frame_ = frame;
    const auto left = options_.deadline == wait_limit::clock::time_point::max()
                          ? std::chrono::nanoseconds::max()
                          : saturated(time_until(options_.deadline));
    return begin(weight(), left);
  }
  std::conditional_t<Limited, std::optional<gate::permit>, gate::permit> await_resume() {
    const bool inside = entered_ || finish();
    if constexpr (Limited)
      return inside ? std::optional(permit_of(std::move(member_))) : std::nullopt;
    else
      return permit_of(std::move(member_));
  }

 private:
  struct call_cancel {
    coroutine_entry* entry;
    void operator()() const noexcept { entry->cancel(); }
  };

  /// More than an int holds is more than any gate has, and refused like that.
  int weight() const noexcept {
    constexpr std::ptrdiff_t most = std::numeric_limits<int>::max();
    return static_cast<int>(std::clamp<std::ptrdiff_t>(options_.permits, 0, most));
  }
  bool on_end() noexcept override { return true; }
  void resume() noexcept override {
    resume_on(executor_, frame_);  // a copy: this object may be gone before it returns
  }

  std::unique_ptr<gate::member> member_;
  request_options options_;
  [[no_unique_address]] E executor_;
  std::coroutine_handle<> frame_;
  bool entered_ = false;
  /// The last member: it may call cancel() as soon as it exists.
  stop_callback<call_cancel> on_stop_;
};

}  // namespace detail::gates

template <class... Options>
auto gate::async_enter(Options... options) {
  using chosen = detail::options_of<Options...>;
  static_assert((Executor<Options> || ...),
                "say where the coroutine goes on: an executor, with execute(f) or post(f, allocator)");
  return detail::gates::coroutine_entry<chosen::limited, typename chosen::executor>(
      std::make_unique<member>(join()), chosen::values(options...), chosen::executors::of(options...));
}

}  // namespace kgate
