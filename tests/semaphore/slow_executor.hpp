// SPDX-License-Identifier: Apache-2.0
#pragma once

/// An executor for Asio whose post() returns late. Include Asio's execution_context.hpp first, and name its namespace.

#include <atomic>
#include <thread>
#include <utility>

namespace kgate::test {

/// What is posted to it has been done when post() returns: as if the context's threads were fast, and the one that
/// posts slow. A context of Asio may be destroyed by then, unless work is outstanding.
template <class ExecutionContext>
class slow_context : public ExecutionContext {
 public:
  class executor_type {
   public:
    explicit executor_type(slow_context& of) noexcept : of_(&of) {}
    slow_context& context() const noexcept { return *of_; }
    void on_work_started() const noexcept { of_->work_.fetch_add(1); }
    void on_work_finished() const noexcept { of_->work_.fetch_sub(1); }
    template <class F, class Allocator>
    void post(F&& f, const Allocator&) const {
      slow_context& of = *of_;
      std::thread([mine = std::decay_t<F>(std::forward<F>(f))]() mutable { mine(); }).join();
      of.unsafe_returns_.fetch_add(of.work_.load() == 0 ? 1 : 0);
      of.posts_.fetch_add(1);
    }
    template <class F, class Allocator>
    void dispatch(F&& f, const Allocator& a) const {
      post(std::forward<F>(f), a);
    }
    template <class F, class Allocator>
    void defer(F&& f, const Allocator& a) const {
      post(std::forward<F>(f), a);
    }
    friend bool operator==(const executor_type&, const executor_type&) noexcept = default;

   private:
    slow_context* of_;
  };
  executor_type get_executor() noexcept { return executor_type(*this); }
  /// Waits for as many posts to have returned; how many of them did so without any work outstanding.
  int unsafe_returns(int posts) const {
    while (posts_.load() < posts || work_.load() != 0) std::this_thread::yield();
    return unsafe_returns_.load();
  }

 private:
  std::atomic<int> work_{0}, posts_{0}, unsafe_returns_{0};
};

}  // namespace kgate::test
