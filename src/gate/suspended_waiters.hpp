// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Members of a gate that wait although no thread of the program sleeps for them: threads of the library do, each for
/// many.

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "gate/core.hpp"
#include "gate/service_thread.hpp"

namespace kgate::detail::gates {

class bell_listener;

/// A wait and its owner, which is notified of its end.
struct suspended_waiter {
  suspended_wait wait;
  std::optional<entry> result;       ///< once it has ended
  suspended_waiter* next = nullptr;  ///< for the thread that ended it
  std::atomic<bell_listener*> home{nullptr};
  void* owner = nullptr;  ///< for the two functions
  /// Called once the wait has ended, under a lock: it must not call back. True: `resume` is to be called as well.
  bool (*ended)(void* owner) noexcept = nullptr;
  /// Called without the lock, by the thread that ended the wait.
  void (*resume)(void* owner) noexcept = nullptr;
};

/// One thread, and the waiters whose bells it sleeps on.
class bell_listener {
 public:
  /// As many futexes as the kernel takes at once, but for the thread's own.
  static constexpr std::size_t waiters_max = futex_waiters_max - 1;

  explicit bell_listener(core& gate) : gate_(gate) {}
  bell_listener(const bell_listener&) = delete;
  bell_listener& operator=(const bell_listener&) = delete;
  ~bell_listener() { stop(); }

  bool has_room();
  /// 0 or an error number. Those that are to be resumed are added to a list.
  int add(suspended_waiter& w, suspended_waiter*& to_resume);
  /// Ends the wait if it has not ended. Afterwards nothing here touches w.
  void withdraw(suspended_waiter& w, entry why, suspended_waiter*& to_resume);
  /// In a forked child, which has no such thread.
  void abandon() noexcept { running_ = false; }

 private:
  static void* thread_main(void* self);
  void run() noexcept;
  void serve(suspended_waiter*& to_resume);
  void finish(std::size_t index, entry how, suspended_waiter*& to_resume);
  void sleep(std::unique_lock<std::mutex>& lock);
  void notify() noexcept;
  int start() noexcept;
  void stop() noexcept;

  core& gate_;
  std::mutex mutex_;
  std::vector<suspended_waiter*> waiters_;
  std::atomic<std::uint32_t> changes_{0};  ///< what the thread sleeps on besides the bells
  service_thread thread_;
  bool running_ = false;
  bool stopping_ = false;
};

/// All suspended waiters of a gate object.
class suspended_waiters {
 public:
  explicit suspended_waiters(core& gate) : gate_(gate) {}

  /// w has begun, is queued. Its end is reported once, maybe before this returns. 0, or the number of an error: then it
  /// is still queued, and is not taken on.
  int add(suspended_waiter& w);
  /// Ends the wait if it has not ended. Afterwards its end has been reported, or another thread is about to call its
  /// resume.
  /// Nothing if it is not added yet: add() looks at wait.how.cancelled afterwards.
  static void withdraw(suspended_waiter& w, entry why);
  void abandon() noexcept;

 private:
  core& gate_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<bell_listener>> threads_;
};

}  // namespace kgate::detail::gates
