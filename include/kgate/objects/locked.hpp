// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kgate/detail/cxx20.hpp"

/// The ordinary way to share a sequential object: behind a lock. The peers of kgate::resilient; one that stops inside
/// stops all.

#include <mutex>

#include "kgate/algorithms/mcs_lock.hpp"
#include "kgate/detail/machines/native.hpp"
#include "kgate/objects/sequential.hpp"

namespace kgate {

/// Behind any lock of the standard's kind.
template <Sequential T, class Mutex = std::mutex>
class locked {
 public:
  explicit locked(const T& initial = T()) : state_(initial) {}

  typename T::result apply(const typename T::operation& op) {
    const std::lock_guard inside(mutex_);
    return state_.apply(op);
  }

 private:
  Mutex mutex_;
  T state_;
};

/// Behind the queue lock of Mellor-Crummey and Scott, which wants to know its threads: 0..N-1.
template <Sequential T, class Policy = spin>
class mcs_locked {
  using machine = native<Policy>;

 public:
  explicit mcs_locked(int N, const T& initial = T()) : lock_(memory_, N, 1), state_(initial) {}

  typename T::result apply(int thread, const typename T::operation& op) {
    typename machine::Process p(pid(thread));
    nothing_private mine;
    lock_.acquire(p, mine);
    const typename T::result got = state_.apply(op);
    lock_.release(p, mine);
    return got;
  }

 private:
  [[no_unique_address]] typename machine::Memory memory_;
  mcs_lock<machine> lock_;
  T state_;
};

}  // namespace kgate
