// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sched.h>

#include <atomic>
#include <cstdint>

#include "kgate/wait_policy.hpp"

namespace kgate::stress {

/// A policy whose threads are held up at random steps, so that what happens once in a million times otherwise happens
/// often.
struct delayed : adaptive {
  static constexpr int spins = 8;
  static void step(const char*) noexcept {
    static std::atomic<std::uint32_t> seeds{1};
    thread_local std::uint32_t random = seeds.fetch_add(1, std::memory_order_relaxed) * 2654435761U;
    random = random * 1664525U + 1013904223U;
    const std::uint32_t dice = random >> 24;
    if (dice < 24) sched_yield();
    if (dice < 3)
      for (int i = 0; i < 30; ++i) sched_yield();
  }
};

}  // namespace kgate::stress
