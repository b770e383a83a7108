// SPDX-License-Identifier: Apache-2.0
#include "lab/checker/explore/memory_limit.hpp"

#include <algorithm>
#include <atomic>
#include <new>

namespace kgate::lab {

namespace {

constexpr std::uint64_t reserve_min = 256 << 10;

// operator new may run before main.
constinit std::atomic<std::uint64_t> used{0}, most{~std::uint64_t{0}}, refused{0};
/// Kept back until the first refusal, so that what was found until then can still be said.
constinit std::atomic<std::uint64_t> reserve{0};

}  // namespace

void take_memory(std::size_t bytes) {
  if (used.fetch_add(bytes, std::memory_order_relaxed) + bytes <= most.load(std::memory_order_relaxed)) return;
  used.fetch_sub(bytes, std::memory_order_relaxed);
  refused.fetch_add(1, std::memory_order_relaxed);
  most.fetch_add(reserve.exchange(0, std::memory_order_relaxed), std::memory_order_relaxed);
  throw std::bad_alloc();
}

void give_memory(std::size_t bytes) noexcept { used.fetch_sub(bytes, std::memory_order_relaxed); }

memory_limit::memory_limit(std::uint64_t bytes) : outer_most_(most), outer_reserve_(reserve), refused_before_(refused) {
  const std::uint64_t kept = std::max(bytes / 16, std::min(reserve_min, bytes / 2));
  const std::uint64_t now = used;
  const std::uint64_t mine = bytes > ~std::uint64_t{0} - now ? ~std::uint64_t{0} : now + bytes - kept;
  if (mine >= outer_most_) return;
  most = mine;
  reserve = kept;
}

memory_limit::~memory_limit() {
  most = outer_most_;
  reserve = outer_reserve_;
}

bool memory_limit::reached() const { return refused > refused_before_; }

}  // namespace kgate::lab
