// SPDX-License-Identifier: Apache-2.0
// The k-bakery for safe registers on registers whose bytes are written one after the other, so that a read during a
// write returns a mixture. (The stress test of the catalogue runs it on whole ones.)

#include <gtest/gtest.h>
#include <sched.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

#include "kgate/algorithms/danek10_nonatomic.hpp"
#include "kgate/detail/machines/native.hpp"

namespace kgate {
namespace {

using namespace std::chrono_literals;
using native_machine = native<spin_yield>;

/// The native machine, but a register is written and read byte by byte.
struct bytewise : native_machine {
  template <class T>
  class alignas(detail::cache_line) Register {
   public:
    Register(Memory&, variable, T initial) { store(initial); }
    Register(const Register&) = delete;
    Register& operator=(const Register&) = delete;

    T read(Process&) const {
      T value = 0;
      for (std::size_t i = 0; i < bytes_.size(); ++i)
        value |= static_cast<T>(T{bytes_[i].load(std::memory_order_acquire)} << (8 * i));
      return value;
    }
    void write(Process&, T value) { store(value); }

   private:
    void store(T value) {
      for (std::size_t i = 0; i < bytes_.size(); ++i)
        bytes_[i].store(static_cast<std::uint8_t>(value >> (8 * i)), std::memory_order_release);
    }
    std::array<std::atomic<std::uint8_t>, sizeof(T)> bytes_;
  };
};
struct outcome {
  long passages = 0;
  long overfull = 0;  ///< entries that found k others inside
  long lost = 0;      ///< with k = 1: changes of plain data that did not last
};

template <class M, class Algorithm>
outcome run(int N, int k, std::chrono::milliseconds time) {
  typename M::Memory memory;
  Algorithm algorithm(memory, N, k);
  alignas(detail::cache_line) std::atomic<int> inside{0};
  alignas(detail::cache_line) long alone = 0;
  std::atomic<bool> stop{false};
  std::atomic<long> passages{0}, overfull{0};
  const auto take_part = [&](int id) {
    typename M::Process p(pid(id));
    typename Algorithm::Private mine{};
    long mine_made = 0;
    while (!stop.load(std::memory_order_relaxed)) {
      algorithm.acquire(p, mine);
      if (inside.fetch_add(1, std::memory_order_relaxed) >= k) {
        overfull.fetch_add(1, std::memory_order_relaxed);
      } else if (k == 1) {
        ++alone;
      }
      if (mine_made % 16 == 0) sched_yield();
      inside.fetch_sub(1, std::memory_order_relaxed);
      algorithm.release(p, mine);
      ++mine_made;
    }
    passages += mine_made;
  };
  std::vector<std::thread> threads;
  for (int id = 0; id < N; ++id) threads.emplace_back(take_part, id);
  std::this_thread::sleep_for(time);
  stop = true;
  for (std::thread& thread : threads) thread.join();
  return {passages, overfull, k == 1 ? passages - alone : 0};
}

TEST(weak_registers, may_be_written_byte_by_byte) {
  for (const auto& [N, k] : {std::pair{2, 1}, {6, 1}, {6, 2}, {5, 3}}) {
    const outcome seen = run<bytewise, danek10::nonatomic<bytewise>>(N, k, 100ms);
    EXPECT_GT(seen.passages, 0);
    EXPECT_EQ(seen.overfull, 0) << "N=" << N << " k=" << k;
    EXPECT_EQ(seen.lost, 0) << "N=" << N << " k=" << k;
  }
}

}  // namespace
}  // namespace kgate
