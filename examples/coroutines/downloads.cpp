// SPDX-License-Identifier: Apache-2.0
// 100,000 downloads, at most 64 at a time, on one thread: each is a coroutine, and those that wait for their turn cost
// their frame and nothing else. A download is a timer here, in an event loop of a few lines.
#include <algorithm>
#include <chrono>
#include <coroutine>
#include <cstdio>
#include <exception>
#include <kgate/async.hpp>
#include <mutex>
#include <queue>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;

/// Resumes coroutines when their time has come.
class event_loop {
 public:
  /// co_await: goes on after so long.
  auto sleep(clock_type::duration length) {
    struct awaiter : std::suspend_always {
      event_loop& loop;
      clock_type::duration length;
      void await_suspend(std::coroutine_handle<> h) { loop.timers_.push({clock_type::now() + length, h}); }
    };
    return awaiter{{}, *this, length};
  }
  void run() {
    while (!timers_.empty()) {
      const timer next = timers_.top();
      timers_.pop();
      std::this_thread::sleep_until(next.when);
      next.who.resume();
    }
  }

 private:
  struct timer {
    clock_type::time_point when;
    std::coroutine_handle<> who;
    bool operator<(const timer& other) const { return when > other.when; }
  };
  std::priority_queue<timer> timers_;
};

/// A coroutine that begins at once and frees itself.
struct background {
  struct promise_type {
    background get_return_object() { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
};

struct progress {
  int active = 0, most_active = 0, done = 0;
};

background download(event_loop& loop, kgate::semaphore& limit, progress& all) {
  co_await limit.async_acquire();
  const kgate::permit mine(limit, std::adopt_lock);  // handed to the next waiter at the end
  all.most_active = std::max(all.most_active, ++all.active);
  co_await loop.sleep(200us);
  --all.active;
  ++all.done;
}

}  // namespace

int main() {
  constexpr int downloads = 100'000;
  event_loop loop;
  kgate::semaphore limit(64);
  progress all;
  const auto before = clock_type::now();
  for (int i = 0; i < downloads; ++i) download(loop, limit, all);
  const std::ptrdiff_t waiting = limit.waiters();
  loop.run();
  const double seconds = std::chrono::duration<double>(clock_type::now() - before).count();
  std::printf("%d downloads in %.2f s, at most %d at a time; %td waited without a thread\n", all.done, seconds,
              all.most_active, waiting);
  return all.done == downloads && all.most_active == 64 ? 0 : 1;
}
