// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The border between C and C++: exceptions become codes, and no call is a cancellation point.

#include <pthread.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <stop_token>

#include "kgate/kgate.h"

/// A stop object of the C interface.
struct kgate_stop {
  std::stop_source source;
};

/// A wait of the C interface; what it waits for is a class of its own.
struct kgate_wait {
  kgate_wait() = default;
  kgate_wait(const kgate_wait&) = delete;
  kgate_wait& operator=(const kgate_wait&) = delete;
  /// Ends the wait, and hands back what was not taken by finish().
  virtual ~kgate_wait() = default;

  virtual int descriptor() const noexcept = 0;
  virtual bool ended() const noexcept = 0;
  virtual void cancel() noexcept = 0;
  /// What is to be done when the descriptor is readable before the end.
  virtual void attend() noexcept {}
  /// How it ended; it has. May throw.
  virtual int finish() = 0;

  bool is_ours() const noexcept { return process_ == getpid(); }

 private:
  pid_t process_ = getpid();  ///< that began
};

namespace kgate::c {

/// Keeps the sentence of this thread's last failure.
int failed(kgate_result code, const char* text) noexcept;
int failed(kgate_result code) noexcept;
[[gnu::format(printf, 2, 3)]] int failed_with(kgate_result code, const char* format, ...) noexcept;
/// The code of the exception in flight, with its sentence kept.
int caught() noexcept;

/// While it lives pthread_cancel waits: a thread that unwound out of the middle of an operation would leave it undone.
class uncancellable {
 public:
  uncancellable() noexcept { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~uncancellable() { pthread_setcancelstate(before_, nullptr); }
  uncancellable(const uncancellable&) = delete;
  uncancellable& operator=(const uncancellable&) = delete;

 private:
  int before_ = PTHREAD_CANCEL_ENABLE;
};

/// work(), which returns a code, with exceptions turned into codes.
template <class Work>
int guarded(Work&& work) noexcept {
  const uncancellable whole;
  try {
    return work();
  } catch (...) {
    return caught();
  }
}

static_assert(std::chrono::nanoseconds::max().count() == KGATE_FOREVER);
inline std::stop_token token_of(const kgate_stop* stop) noexcept {
  return stop == nullptr ? std::stop_token() : stop->source.get_token();
}
inline bool stop_requested(const kgate_stop* stop) noexcept { return stop != nullptr && stop->source.stop_requested(); }

/// How long a call waited, in a sentence about it: " within 1.5 s", or " now".
class within {
 public:
  explicit within(std::int64_t nanoseconds) noexcept;
  const char* text() const noexcept { return text_.data(); }

 private:
  std::array<char, 32> text_{};
};

/// Cancels an event (acquire_event, event_entry) on request, also of a stop object, and remembers it. The last member
/// of a wait.
template <class Event>
class canceller {
 public:
  canceller(Event& event, const kgate_stop* stop) : event_(&event), on_stop_(token_of(stop), call{this}) {}
  void cancel() noexcept {
    cancelled_.store(true);
    event_->cancel();
  }
  bool cancelled() const noexcept { return cancelled_.load(); }

 private:
  struct call {
    canceller* to;
    void operator()() const noexcept { to->cancel(); }
  };
  Event* event_;
  std::atomic<bool> cancelled_{false};
  std::stop_callback<call> on_stop_;
};

}  // namespace kgate::c
