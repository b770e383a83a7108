// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sched.h>

#include "kgate/detail/cxx20.hpp"

namespace kgate {

/// One pause inside a busy wait: tells the core that nothing happens here until another core writes.
inline void cpu_relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield" ::: "memory");
#endif
}

/// How a native process waits. `spins` pauses come first; then the policy yields or, if it `parks`, sleeps in the
/// kernel until the variable it waits for is written.
struct spin {
  static constexpr bool parks = false;
  static constexpr bool yields = false;
  static constexpr int spins = 0;
};

struct spin_yield {
  static constexpr bool parks = false;
  static constexpr bool yields = true;
  static constexpr int spins = 200;
};

struct spin_park {
  static constexpr bool parks = true;
  static constexpr bool yields = true;
  static constexpr int spins = 200;
};

/// spin_park that spins longer, but only while all waiters could be running: what kgate::semaphore uses by default.
struct adaptive {
  static constexpr bool parks = true;
  static constexpr bool yields = true;
  static constexpr bool adapts = true;
  static constexpr int spins = 800;
};

/// One round of a busy wait under a policy; counts its own rounds.
template <class Policy>
class backoff {
 public:
  void operator()() noexcept {
    if constexpr (Policy::yields) {
      if (rounds_ >= Policy::spins) {
        sched_yield();
        return;
      }
      ++rounds_;
    }
    cpu_relax();
  }
  /// True once the rounds in which the policy only pauses are used up.
  bool exhausted() const noexcept { return rounds_ >= Policy::spins; }

 private:
  int rounds_ = 0;
};

}  // namespace kgate
