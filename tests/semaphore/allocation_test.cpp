// SPDX-License-Identifier: Apache-2.0
// A thread allocates nothing while it waits. The C library's allocator is replaced by one that counts what the watching
// threads ask for, so not in programs of the sanitizers, which have their own.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <stop_token>
#include <thread>
#include <type_traits>
#include <utility>

#include "kgate/pool.hpp"
#include "kgate/semaphore.hpp"
#include "kgate/slots.hpp"

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define KGATE_COUNTS_ALLOCATIONS 1

namespace {
thread_local bool watched = false;
std::atomic<int> allocations{0};
void note_allocation() { allocations += watched ? 1 : 0; }
}  // namespace

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void* malloc(std::size_t bytes) { return note_allocation(), __libc_malloc(bytes); }
void* calloc(std::size_t count, std::size_t bytes) { return note_allocation(), __libc_calloc(count, bytes); }
void* realloc(void* old, std::size_t bytes) { return note_allocation(), __libc_realloc(old, bytes); }
void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  return note_allocation(), __libc_memalign(alignment, bytes);
}
}
#endif

namespace kgate {
namespace {

#if defined(KGATE_COUNTS_ALLOCATIONS)

using namespace std::chrono_literals;

/// How often a thread allocates that calls wait(), which ends when end() is called after it has come to be queued.
template <class Line, class Wait, class End>
int allocations_of(const Line& line, Wait wait, End end) {
  allocations = 0;
  std::jthread thread([&] {
    watched = true;
    wait();
    watched = false;
  });
  while (line.waiters() == 0) std::this_thread::sleep_for(1ms);
  std::this_thread::sleep_for(2ms);  // so that it sleeps in the kernel
  end();
  thread.join();
  return allocations;
}

template <class S>
class waiting_threads : public testing::Test {};
using kinds = testing::Types<semaphore, basic_semaphore<bounded_overtaking<>>, basic_semaphore<fifo, spin_park>, slots>;
TYPED_TEST_SUITE(waiting_threads, kinds);

TYPED_TEST(waiting_threads, allocate_nothing) {
  TypeParam s(1);
  std::stop_source stop;
  const auto give_back = [&] {
    if constexpr (std::is_same_v<TypeParam, slots>)
      s.release(0);
    else
      s.release();
  };
  static_cast<void>(s.acquire());
  EXPECT_EQ(allocations_of(
                s, [&] { static_cast<void>(s.acquire()); }, give_back),
            0);
  EXPECT_EQ(allocations_of(
                s, [&] { static_cast<void>(s.try_acquire_for(1h)); }, give_back),
            0);
  EXPECT_EQ(allocations_of(
                s, [&] { static_cast<void>(s.acquire(stop.get_token())); }, give_back),
            0);
  EXPECT_EQ(allocations_of(
                s, [&] { static_cast<void>(s.try_acquire_for(20ms)); }, [] {}),
            0)
      << "it gives up";
  const auto request_stop = [&] { stop.request_stop(); };
  EXPECT_EQ(allocations_of(
                s, [&] { static_cast<void>(s.try_acquire_for(stop.get_token(), 1h)); }, request_stop),
            0);
  give_back();
}
TEST(waiting_threads_of_a_pool, allocate_nothing) {
  pool<int> one(1);
  auto lent = one.borrow();
  EXPECT_EQ(allocations_of(
                one, [&] { static_cast<void>(one.borrow()); }, [&] { lent.give_back(); }),
            0);
}
TEST(waiting_threads_counter, counts_what_a_watched_thread_allocates) {
  semaphore s(1);
  s.acquire();
  const auto wait = [&] {
    const auto kept = std::make_unique<std::atomic<int>>(1);
    s.acquire();
  };
  EXPECT_EQ(allocations_of(s, wait, [&] { s.release(); }), 1);
  s.release();
}

#endif

}  // namespace
}  // namespace kgate
