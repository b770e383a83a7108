// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The border between C and C++: exceptions become codes, and no call is a cancellation point.

#include <pthread.h>

#include <chrono>
#include <cstdint>
#include <stop_token>

#include "kgate/kgate.h"

/// A stop object of the C interface.
struct kgate_stop {
  std::stop_source source;
};

namespace kgate::c {

/// Keeps the sentence of this thread's last failure.
int failed(kgate_result code, const char* text) noexcept;
int failed(kgate_result code) noexcept;
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
/// Why a wait within limits took nothing.
inline int gave_up(const kgate_stop* stop) noexcept {
  return stop != nullptr && stop->source.stop_requested() ? failed(KGATE_STOPPED) : failed(KGATE_TIMED_OUT);
}

}  // namespace kgate::c
