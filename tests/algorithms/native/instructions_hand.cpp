// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cstddef>

#include "instructions.hpp"
#include "kgate/detail/cache_line.hpp"
#include "kgate/detail/fixed_array.hpp"
#include "kgate/wait_policy.hpp"

struct block {
  alignas(kgate::detail::cache_line) std::atomic<int> X;
  alignas(kgate::detail::cache_line) std::atomic<std::uint16_t> Q;

  void acquire(std::uint16_t p) {
    if (X.fetch_add(-1) == 0) {
      Q.store(p);
#ifdef KGATE_ONE_ATOMIC_TOO_MANY
      std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
      if (X.load() < 0)
        while (Q.load() == p) kgate::cpu_relax();
    }
  }
  void release(std::uint16_t p) {
    X.fetch_add(1);
    Q.store(p);
  }
};

struct name_bit {
  alignas(kgate::detail::cache_line) std::atomic<bool> taken;
};

struct named {
  block inner;
  kgate::fixed_array<name_bit> X;
};

void figure3_acquire(block& at, std::uint16_t p) { at.acquire(p); }

void figure3_release(block& at, std::uint16_t p) { at.release(p); }

int names_acquire(named& at, std::uint16_t p) {
  at.inner.acquire(p);
  int name = 0;
  while (name < static_cast<int>(at.X.size()) && at.X[static_cast<std::size_t>(name)].taken.exchange(true)) ++name;
  return name;
}

void names_release(named& at, std::uint16_t p, int name) {
  if (name < static_cast<int>(at.X.size())) at.X[static_cast<std::size_t>(name)].taken.store(false);
  at.inner.release(p);
}
