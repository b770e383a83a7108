// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kgate/detail/cxx20.hpp"

/// kgate::wait_free<T, K>: a sequential object (objects/sequential.hpp) for K threads that never wait for each other.

#include "kgate/detail/machines/native.hpp"
#include "kgate/objects/herlihy93.hpp"
#include "kgate/objects/usable_between_processes.hpp"

namespace kgate {

/// Each thread that uses the object has a number of its own, 0..K-1. An operation takes a bounded number of the
/// thread's own steps, whatever the others do. If threads come and go or are more than K, let kgate::resilient number
/// them.
///
/// The object contains no pointers: it may be made in memory that processes share (placement new), and processes be its
/// threads.
template <Sequential T, int K>
requires SmallState<T>
class wait_free {
  static_assert(K >= 1);
  using machine = native<spin>;

 public:
  using operation = typename T::operation;
  using result = typename T::result;

  explicit wait_free(const T& initial = T()) : object_(memory_, initial) {}
  wait_free(const wait_free&) = delete;
  wait_free& operator=(const wait_free&) = delete;

  /// Carries out op. `thread` must be in 0..K-1, or the program stops; no two may use the same at once.
  result apply(int thread, const operation& op) noexcept {
    KGATE_EXPECTS(thread >= 0 && thread < K, "a thread of a wait-free object is numbered 0..K-1");
    typename machine::Process p(pid(thread));
    return object_.apply(p, thread, op);
  }

  static constexpr int threads() noexcept { return K; }
  /// K+1 blocks of this many bytes are what the object is made of.
  std::size_t block_bytes() const noexcept { return object_.block_bytes(); }
  std::size_t blocks() const noexcept { return object_.blocks(); }

 private:
  [[no_unique_address]] typename machine::Memory memory_;
  herlihy93<machine, T, K> object_;
};

template <Sequential T, int K>
requires SmallState<T>
inline constexpr bool usable_between_processes<wait_free<T, K>> = true;

}  // namespace kgate
