// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Deadlines of waiters that no thread stands for, kept by a thread of their own.

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <mutex>
#include <new>
#include <thread>
#include <utility>

#include "kgate/detail/waiting/futex.hpp"
#include "kgate/detail/waiting/native_room.hpp"
#include "kgate/detail/waiting/small_mutex.hpp"
#include "kgate/detail/waiting/wait_limit.hpp"

namespace kgate::detail {

/// Something with a deadline, as a node of a pairing heap. All links are null while it is in no heap.
struct deadline_node {
  using clock = wait_limit::clock;
  clock::time_point deadline = clock::time_point::max();
  deadline_node* child = nullptr;    ///< the first of those that come after it
  deadline_node* sibling = nullptr;  ///< the next of them
  deadline_node* before = nullptr;   ///< the sibling to its left, or what it is the first child of

  bool has_deadline() const noexcept { return deadline != clock::time_point::max(); }
};

/// Nodes, the earliest deadline first. Adding takes constant time, removing logarithmic time in the long run.
class deadline_heap {
 public:
  deadline_node* first() const noexcept { return root_; }
  bool contains(const deadline_node& n) const noexcept { return &n == root_ || n.before != nullptr; }
  void add(deadline_node& n) noexcept { root_ = merged(root_, &n); }
  void remove(deadline_node& n) noexcept {
    deadline_node* const below = merged_pairs(std::exchange(n.child, nullptr));
    if (&n == root_) {
      root_ = below;
      return;
    }
    (n.before->child == &n ? n.before->child : n.before->sibling) = n.sibling;
    if (n.sibling != nullptr) n.sibling->before = n.before;
    n.sibling = n.before = nullptr;
    root_ = merged(root_, below);
  }

 private:
  static deadline_node* merged(deadline_node* a, deadline_node* b) noexcept {
    if (a == nullptr || b == nullptr) return a != nullptr ? a : b;
    if (b->deadline < a->deadline) std::swap(a, b);
    b->sibling = a->child;
    if (b->sibling != nullptr) b->sibling->before = b;
    b->before = a;
    a->child = b;
    return a;
  }
  /// Siblings merged two by two from the left, and the results from the right.
  static deadline_node* merged_pairs(deadline_node* first) noexcept {
    deadline_node* pairs = nullptr;  // by their sibling links
    while (first != nullptr) {
      deadline_node* const a = first;
      deadline_node* const b = a->sibling;
      first = b != nullptr ? b->sibling : nullptr;
      detach(a);
      if (b != nullptr) detach(b);
      deadline_node* const pair = merged(a, b);
      pair->sibling = pairs;
      pairs = pair;
    }
    deadline_node* all = nullptr;
    while (pairs != nullptr) {
      deadline_node* const pair = pairs;
      pairs = std::exchange(pair->sibling, nullptr);
      all = merged(all, pair);
    }
    return all;
  }
  static void detach(deadline_node* n) noexcept { n->sibling = n->before = nullptr; }

  deadline_node* root_ = nullptr;
};

/// A waiter with a deadline, which its kind can expire.
struct timed_waiter : native_waiter, deadline_node {};

/// The deadlines of this process, or of one shared object where these have their own. Its thread starts with the first
/// of them and never ends; the child of a fork has none and begins anew.
class deadlines {
 public:
  using clock = deadline_node::clock;

  /// Never destroyed: the thread may outlive main.
  static deadlines& of_process() {
    static deadlines* const one = [] {
      alignas(deadlines) static unsigned char memory[sizeof(deadlines)];
      ::pthread_atfork(nullptr, nullptr, [] { ::new (static_cast<void*>(memory)) deadlines; });
      return ::new (static_cast<void*>(memory)) deadlines;
    }();
    return *one;
  }

  /// The kind's expire is called once when the deadline has passed, unless the waiter is removed before.
  /// @throws std::system_error if the thread cannot be started
  void add(timed_waiter& w) {
    const std::lock_guard locked(mutex_);
    if (!started_) {
      start();
      started_ = true;
    }
    heap_.add(w);
    if (heap_.first() == &w) notify();
  }
  /// Afterwards expire neither runs nor will run for this waiter, unless the caller is in it.
  void remove(timed_waiter& w) noexcept {
    mutex_.lock();
    if (heap_.contains(w)) heap_.remove(w);
    while (expiring_ == &w && expiring_in_ != std::this_thread::get_id()) {
      somebody_removes_ = true;
      const std::uint32_t seen = changes_.load(std::memory_order_seq_cst);
      mutex_.unlock();
      futex_wait(changes_, seen);
      mutex_.lock();
    }
    mutex_.unlock();
  }

 private:
  deadlines() = default;

  /// Handlers of signals are for the threads of the program: this one blocks them all.
  void start() {
    struct all_blocked {
      sigset_t before;
      all_blocked() noexcept {
        sigset_t all;
        ::sigfillset(&all);
        ::pthread_sigmask(SIG_SETMASK, &all, &before);
      }
      all_blocked(const all_blocked&) = delete;
      all_blocked& operator=(const all_blocked&) = delete;
      ~all_blocked() { ::pthread_sigmask(SIG_SETMASK, &before, nullptr); }
    };
    const all_blocked for_the_thread;
    std::thread([this] { run(); }).detach();
  }
  void notify() noexcept {
    changes_.fetch_add(1, std::memory_order_seq_cst);
    futex_wake(changes_);
  }
  [[noreturn]] void run() noexcept {
    mutex_.lock();
    expiring_in_ = std::this_thread::get_id();
    for (;;) {
      auto* const first = static_cast<timed_waiter*>(heap_.first());
      const clock::time_point now = clock::now();
      if (first != nullptr && first->deadline <= now) {
        heap_.remove(*first);
        expiring_ = first;
        mutex_.unlock();
        first->is->expire(*first);
        mutex_.lock();
        expiring_ = nullptr;  // nothing of `first` is touched here: it may be gone
        if (std::exchange(somebody_removes_, false)) notify();
        continue;
      }
      const std::uint32_t seen = changes_.load(std::memory_order_seq_cst);
      const auto left = first != nullptr ? std::min<clock::duration>(first->deadline - now, std::chrono::hours(24))
                                         : std::chrono::hours(24);
      mutex_.unlock();
      sleep(seen, left);
      mutex_.lock();
    }
  }
  void sleep(std::uint32_t seen, std::chrono::nanoseconds left) noexcept {
    const std::timespec length{static_cast<std::time_t>(left.count() / 1'000'000'000),
                               static_cast<long>(left.count() % 1'000'000'000)};
    futex_wait(changes_, seen, &length);
  }

  small_mutex mutex_;
  deadline_heap heap_;
  timed_waiter* expiring_ = nullptr;  ///< whose expire runs
  std::thread::id expiring_in_;
  std::atomic<std::uint32_t> changes_{0};  ///< counts what the thread, or one that removes, is to look at
  bool somebody_removes_ = false;          ///< and waits until expire has returned
  bool started_ = false;
};

}  // namespace kgate::detail
