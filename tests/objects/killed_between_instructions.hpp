// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Kills a process after each of its instructions in an operation on an object that heals, and looks at what it left.

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <barrier>
#include <cstddef>
#include <cstdint>
#include <new>
#include <thread>
#include <vector>

#include "gate/faults/traced_process.hpp"
#include "kgate/resilient.hpp"
#include "objects/halves.hpp"

namespace kgate::faults {

/// A compiler must not change both at once.
struct nothing_moved {
  void operator()() const noexcept { asm volatile("" : : : "memory"); }
};
using twins = halves_of<nothing_moved>;

/// Made in memory that forked processes share.
template <int K>
struct shared_twins {
  using object = resilient<twins, K, healing>;
  void* memory = ::mmap(nullptr, sizeof(object), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  object* at = memory == MAP_FAILED ? throw std::bad_alloc() : ::new (memory) object();
  shared_twins() = default;
  shared_twins(const shared_twins&) = delete;
  shared_twins& operator=(const shared_twins&) = delete;
  ~shared_twins() { ::munmap(memory, sizeof(object)); }
};

/// A process that adds one, and another one between its marks, and is killed after `steps` instructions of that.
/// Whether it came so far.
template <int K>
bool dies_after(const shared_twins<K>& s, std::size_t steps) {
  traced_process victim([&] {
    s.at->apply({1});
    mark();
    s.at->apply({1});
    mark();
  });
  EXPECT_TRUE(victim.run_to_mark());
  victim.share_core();
  for (std::size_t i = 0; i < steps; ++i)
    if (victim.step() != traced_process::step_result::stepped) return false;
  victim.kill_now();
  return true;
}

/// After `victims` processes died: each has added one, and the other one or not; all slots are to be had again.
template <int K>
void expect_whole(const shared_twins<K>& s, int victims, std::size_t steps) {
  constexpr int threads = 2 * K;
  std::barrier all_there(threads);
  {
    std::vector<std::jthread> all;
    for (int t = 0; t < threads; ++t)
      all.emplace_back([&] {
        EXPECT_GE(s.at->apply({1000}), 0) << "killed after " << steps << " instructions";
        all_there.arrive_and_wait();  // each has a number of its own meanwhile, and tries another slot first
      });
  }
  EXPECT_EQ(s.at->available(), K) << "killed after " << steps << " instructions";
  const std::int64_t theirs = s.at->apply({0}) - threads * 1000;
  EXPECT_GE(theirs, victims) << "killed after " << steps << " instructions";
  EXPECT_LE(theirs, 2 * victims) << "killed after " << steps << " instructions";
}

/// One process is killed, after every instruction in turn; how many there are.
template <int K>
std::size_t one_dies_anywhere() {
  for (std::size_t steps = 0;; ++steps) {
    const shared_twins<K> s;
    if (!dies_after(s, steps)) return steps;
    expect_whole(s, 1, steps);
    if (testing::Test::HasFailure()) return steps;
  }
}

/// One is killed, after so many instructions; and another one that heals it, after every instruction or every
/// `stride`th in turn. How often.
template <int K>
std::size_t another_dies_healing(std::size_t first, std::size_t stride) {
  for (std::size_t steps = 0, lives = 0;; steps += stride, ++lives) {
    const shared_twins<K> s;
    EXPECT_TRUE(dies_after(s, first));
    if (!dies_after(s, steps)) return lives;
    expect_whole(s, 2, steps);
    if (testing::Test::HasFailure()) return lives;
  }
}

}  // namespace kgate::faults
