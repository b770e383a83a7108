// SPDX-License-Identifier: Apache-2.0
#pragma once

/// When a thread gives up waiting, and arithmetic with times that cannot overflow.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <ratio>

#include "kgate/detail/stop_token.hpp"

namespace kgate::detail {

struct wait_limit {
  using clock = std::chrono::steady_clock;
  clock::time_point deadline = clock::time_point::max();
  const stop_token* stop = nullptr;

  bool has_deadline() const noexcept { return deadline != clock::time_point::max(); }
  bool expired() const noexcept {
    return (stop != nullptr && stop->stop_requested()) || (has_deadline() && clock::now() >= deadline);
  }
};

/// `d` as a duration of the clock, rounded up; d must be one that fits. Where the standard's cast would multiply first
/// and divide then, it could overflow on the way.
template <class Rep, class Period>
wait_limit::clock::duration rounded_up(const std::chrono::duration<Rep, Period>& d) noexcept {
  using duration = wait_limit::clock::duration;
  using factor = std::ratio_divide<Period, duration::period>;
  if constexpr (factor::num == 1 || factor::den == 1)
    return std::chrono::ceil<duration>(d);
  else
    return std::chrono::ceil<duration>(std::chrono::duration<long double>(d));
}

/// `timeout` from now, for any duration: max() if that is too far, now if it is not positive or not a number.
template <class Rep, class Period>
wait_limit::clock::time_point deadline_after(const std::chrono::duration<Rep, Period>& timeout) noexcept {
  using clock = wait_limit::clock;
  using seconds = std::chrono::duration<long double>;
  const clock::time_point now = clock::now();
  const seconds wanted(timeout);
  if (!(wanted.count() > 0)) return now;
  if (wanted >= seconds(clock::time_point::max() - now) - seconds(1)) return clock::time_point::max();
  return now + rounded_up(timeout);
}

/// `when` as a deadline, for any duration: max() if that is too far, long ago if it is not a number.
template <class Duration>
wait_limit::clock::time_point deadline_at(const std::chrono::time_point<wait_limit::clock, Duration>& when) noexcept {
  using clock = wait_limit::clock;
  using seconds = std::chrono::duration<long double>;
  const seconds wanted(when.time_since_epoch());
  if (!(wanted > seconds(0))) return clock::time_point{};
  if (wanted >= seconds(clock::duration::max()) - seconds(1)) return clock::time_point::max();
  return clock::time_point(rounded_up(when.time_since_epoch()));
}

/// How long it is until `when`, for any time of any clock; at most a hundred days, so that the caller asks again.
template <class Clock, class Duration>
std::chrono::nanoseconds time_until(const std::chrono::time_point<Clock, Duration>& when) noexcept {
  using seconds = std::chrono::duration<long double>;
  constexpr std::chrono::hours most(2400);
  const auto now = Clock::now();
  const seconds left = seconds(when.time_since_epoch()) - seconds(now.time_since_epoch());
  if (!(left.count() > 0)) return std::chrono::nanoseconds(0);
  if (left >= seconds(most)) return most;
  return std::chrono::ceil<std::chrono::nanoseconds>(left);
}

}  // namespace kgate::detail
