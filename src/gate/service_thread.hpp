// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Threads of the library in programs that know nothing of them.

#include <pthread.h>

namespace kgate::detail::gates {

/// While it lives the calling thread is not cancelled: what closes, writes or joins may stand in functions that must
/// not throw, and a cancellation is an exception.
class uncancelled {
 public:
  uncancelled() noexcept { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  uncancelled(const uncancelled&) = delete;
  uncancelled& operator=(const uncancelled&) = delete;
  ~uncancelled() { pthread_setcancelstate(before_, &before_); }

 private:
  int before_ = PTHREAD_CANCEL_ENABLE;
};

/// A thread that gets none of the program's signals, and may run wherever the thread that began it or the program's
/// first one may.
class service_thread {
 public:
  /// What the thread's policy of scheduling is where the caller's is not the ordinary one, and the kernel does not
  /// allow that (to one of SCHED_IDLE): the caller's, or there is no thread.
  enum class otherwise : unsigned char { as_the_caller, none };

  /// Begins it: 0, or the number of an error.
  int start(void* (*main)(void*), void* argument, otherwise policy) noexcept;
  void join() noexcept;

 private:
  pthread_t thread_{};
};

}  // namespace kgate::detail::gates
