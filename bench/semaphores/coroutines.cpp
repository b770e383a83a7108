// SPDX-License-Identifier: Apache-2.0
// Coroutines of one thread that hand a permit to each other.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <coroutine>
#include <ctime>
#include <deque>
#include <exception>
#include <mutex>
#include <stop_token>
#include <thread>

#include "harness.hpp"
#include "kgate/async.hpp"

namespace kgate::bench {
namespace {

/// What one writes in twenty lines: a mutex, a count and those that wait.
class mutex_and_deque {
 public:
  explicit mutex_and_deque(int k) : free_(k) {}
  auto async_acquire() {
    struct awaiter : std::suspend_always {
      mutex_and_deque& from;
      bool await_suspend(std::coroutine_handle<> h) const {
        const std::lock_guard locked(from.mutex_);
        if (from.free_ > 0) return --from.free_, false;
        from.waiting_.push_back(h);
        return true;
      }
    };
    return awaiter{{}, *this};
  }
  void release() {
    {
      const std::lock_guard locked(mutex_);
      if (waiting_.empty()) return static_cast<void>(++free_);
      ready_.push_back(waiting_.front());
      waiting_.pop_front();
    }
    if (running_) return;  // in a coroutine that was resumed here: the stack need not grow
    running_ = true;
    for (; !ready_.empty(); ready_.pop_front()) ready_.front().resume();
    running_ = false;
  }

 private:
  std::mutex mutex_;
  int free_;
  std::deque<std::coroutine_handle<>> waiting_;
  static inline thread_local std::deque<std::coroutine_handle<>> ready_;
  static inline thread_local bool running_ = false;
};

struct node {
  std::coroutine_handle<> waits;
  node* next = nullptr;
};
struct list {
  node* first = nullptr;
  node* last = nullptr;
  void add(node& n) {
    n.next = nullptr;
    (first != nullptr ? last->next : first) = &n;
    last = &n;
  }
  node* take() {
    node* const n = first;
    if (n != nullptr) first = n->next;
    return n;
  }
};
/// The floor: what a list of coroutines costs under a lock that is one exchange and one store. None can give up, ask
/// for several, or wait by a thread.
class list_and_spin_lock {
 public:
  explicit list_and_spin_lock(int k) : free_(k) {}
  auto async_acquire() {
    struct awaiter : node {
      list_and_spin_lock& from;
      explicit awaiter(list_and_spin_lock& s) : from(s) {}
      bool await_ready() const noexcept { return false; }
      bool await_suspend(std::coroutine_handle<> h) {
        this->waits = h;
        from.lock();
        const bool inside = from.free_ > 0;
        if (inside)
          --from.free_;
        else
          from.waiting_.add(*this);
        from.open();
        return !inside;
      }
      void await_resume() const noexcept {}
    };
    return awaiter(*this);
  }
  void release() {
    lock();
    node* const next = waiting_.take();
    if (next == nullptr) ++free_;
    open();
    if (next == nullptr) return;
    ready_.add(*next);
    if (running_) return;
    running_ = true;
    while (node* const n = ready_.take()) n->waits.resume();
    running_ = false;
  }

 private:
  void lock() {
    while (locked_.exchange(true, std::memory_order_acquire)) std::this_thread::yield();
  }
  void open() { locked_.store(false, std::memory_order_release); }
  std::atomic<bool> locked_{false};
  int free_;
  list waiting_;
  static inline thread_local constinit list ready_{};
  static inline thread_local constinit bool running_ = false;
};

/// The same, with the locked instructions that a hand-over of ours has and no others: two for a word that decides alone
/// which are inside, and two to take and two to open the lock.
class list_and_word {
 public:
  explicit list_and_word(int k) : k_(k) {}
  auto async_acquire() {
    struct awaiter : node {
      list_and_word& from;
      explicit awaiter(list_and_word& s) : from(s) {}
      bool await_ready() const noexcept { return false; }
      bool await_suspend(std::coroutine_handle<> h) {
        this->waits = h;
        from.lock();
        const bool inside = from.drawn_.fetch_add(1) < from.k_;
        if (!inside) from.waiting_.add(*this);
        from.open();
        return !inside;
      }
      void await_resume() const noexcept {}
    };
    return awaiter(*this);
  }
  void release() {
    if (drawn_.fetch_sub(1) <= k_) return;
    lock();
    node* const next = waiting_.take();
    open();
    ready_.add(*next);
    if (running_) return;
    running_ = true;
    while (node* const n = ready_.take()) n->waits.resume();
    running_ = false;
  }

 private:
  void lock() {
    for (int open = 0; !lock_.compare_exchange_strong(open, 1); open = 0) std::this_thread::yield();
  }
  void open() {
    int locked = 1;
    lock_.compare_exchange_strong(locked, 0);
  }
  std::atomic<long> drawn_{0};
  long k_;
  std::atomic<int> lock_{0};
  list waiting_;
  static inline thread_local constinit list ready_{};
  static inline thread_local constinit bool running_ = false;
};

struct detached {
  struct promise_type {
    detached get_return_object() noexcept { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    void unhandled_exception() noexcept { std::terminate(); }
  };
};

template <class Semaphore>
detached pass_on(Semaphore& s, const bool& end, double& passages) {
  while (!end) {
    co_await s.async_acquire();
    ++passages;
    s.release();
  }
}
/// Ends it after a while, from within: one coroutine of the crowd looks at the clock, or at what was done.
template <class Semaphore>
detached end_after(Semaphore& s, const cell& what, const double& passages, bool& end) {
  using clock = std::chrono::steady_clock;
  const auto when =
      clock::now() + std::chrono::duration_cast<clock::duration>(std::chrono::duration<double>(what.seconds));
  while (!end) {
    co_await s.async_acquire();
    end = what.hand_overs > 0 ? passages >= static_cast<double>(what.hand_overs) : clock::now() >= when;
    s.release();
  }
}

/// Of this thread: it never waits, so time that others had the processor does not count.
double processor_seconds() {
  std::timespec used{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

template <class Semaphore>
sample run(const cell& what) {
  std::jthread another([](std::stop_token stop) {  // or the C library would leave out what only threads need
    std::mutex mutex;
    std::condition_variable_any never;
    std::unique_lock locked(mutex);
    never.wait(locked, stop, [] { return false; });
  });
  Semaphore s(what.k);
  bool end = false;
  sample got;
  for (int i = 0; i < what.k; ++i) {
    auto taken = s.async_acquire();
    if (!taken.await_ready()) static_cast<void>(taken.await_suspend(std::noop_coroutine()));
  }
  for (int i = 0; i < what.coroutines; ++i) pass_on(s, end, got.operations);
  end_after(s, what, got.operations, end);
  const double before = processor_seconds();
  for (int i = 0; i < what.k; ++i) s.release();
  got.seconds = got.cpu_seconds = processor_seconds() - before;
  got.done = true;
  return got;
}

}  // namespace

std::vector<peer> coroutine_peers() {
  const auto described = [](const char* name, sample (*run)(const cell&)) {
    return peer{.name = name, .first_come = true, .coroutines = true, .run = run};
  };
  return {described("floor: list and spin lock", run<list_and_spin_lock>),
          described("floor: six locked instructions", run<list_and_word>),
          described("kgate coroutines", run<semaphore>), described("mutex and deque", run<mutex_and_deque>)};
}

}  // namespace kgate::bench
