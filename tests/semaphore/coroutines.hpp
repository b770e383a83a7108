// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The least that a test needs to run coroutines.

#include <condition_variable>
#include <coroutine>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace kgate::test {

/// Runs at once, and frees itself at its end.
struct detached {
  struct promise_type {
    detached get_return_object() noexcept { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    void unhandled_exception() noexcept { std::terminate(); }
  };
  std::coroutine_handle<> frame;
};

/// Threads that resume what they are given, in order.
class thread_pool {
 public:
  explicit thread_pool(int threads) {
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this](std::stop_token stop) { run(stop); });
  }
  struct executor_type {
    thread_pool* pool;
    void execute(std::coroutine_handle<> h) const {
      const std::lock_guard locked(pool->mutex_);
      pool->ready_.push_back(h);
      pool->some_.notify_one();
    }
  };
  executor_type executor() noexcept { return {this}; }
  /// co_await: goes on in one of the threads, after what they have to do already.
  auto yield() noexcept {
    struct awaiter : std::suspend_always {
      executor_type on;
      void await_suspend(std::coroutine_handle<> h) const { on.execute(h); }
    };
    return awaiter{{}, executor()};
  }

 private:
  void run(const std::stop_token& stop) {
    std::unique_lock locked(mutex_);
    while (some_.wait(locked, stop, [&] { return !ready_.empty(); })) {
      const std::coroutine_handle<> next = ready_.front();
      ready_.pop_front();
      locked.unlock();
      next.resume();
      locked.lock();
    }
  }
  std::mutex mutex_;
  std::condition_variable_any some_;
  std::deque<std::coroutine_handle<>> ready_;
  std::vector<std::jthread> threads_;
};

}  // namespace kgate::test
