// SPDX-License-Identifier: Apache-2.0
/// Objects in memory that processes share: nothing is lost for any K, and one that is killed waiting costs the others
/// nothing.

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <functional>
#include <memory>
#include <new>
#include <thread>
#include <vector>

#include "kgate/resilient.hpp"

namespace kgate {
namespace {

using namespace std::chrono_literals;

static_assert(usable_between_processes<resilient<counter, 4>>);
static_assert(usable_between_processes<resilient<counter, 33>>);
static_assert(usable_between_processes<resilient<counter, 1000>>);
static_assert(usable_between_processes<resilient<counter, 1>>);
static_assert(usable_between_processes<resilient<counter, 4, healing>>);
static_assert(usable_between_processes<resilient<counter, 40, word_slots>>);
static_assert(usable_between_processes<wait_free<counter, 4>>);
static_assert(!usable_between_processes<resilient<counter, 4, slots>>);
static_assert(!usable_between_processes<int>);

/// One of a kind in shared memory.
template <class T>
class shared {
 public:
  shared() : object_(::new (mapped()) T()) {}
  shared(const shared&) = delete;
  shared& operator=(const shared&) = delete;
  ~shared() {
    std::destroy_at(object_);
    ::munmap(object_, sizeof(T));
  }
  T* operator->() const { return object_; }

 private:
  static void* mapped() {
    void* const memory = ::mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? throw std::bad_alloc() : memory;
  }
  T* object_;
};

/// Processes that run body(i), all of which must end well.
void in_processes(int count, const std::function<void(int)>& body) {
  std::vector<pid_t> all;
  for (int i = 0; i < count; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      body(i);
      ::_exit(0);
    }
    all.push_back(child);
  }
  for (const pid_t child : all) {
    int status = 1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
}

template <int K, class Slots = any_order>
void loses_nothing(int processes = 6) {
  const shared<resilient<counter, K, Slots>> object;
  object->apply(counter::add(1));  // the parent's identity is not the children's
  constexpr int each = 20'000;
  in_processes(processes, [&](int) {
    std::jthread beside([&] {
      for (int i = 0; i < each / 2; ++i) object->apply(counter::add(1));
    });
    for (int i = 0; i < each / 2; ++i) object->apply(counter::add(1));
  });
  EXPECT_EQ(object->apply(counter::read()), 1 + std::int64_t{each} * processes) << K;
}

TEST(BetweenProcesses, NothingIsLostForAnyK) {
  loses_nothing<1>();
  loses_nothing<2>();
  loses_nothing<4>();
  loses_nothing<16>();
  loses_nothing<17>();
  loses_nothing<32>();
  loses_nothing<33>();
  loses_nothing<65>();
  loses_nothing<200>();
}
TEST(BetweenProcesses, NothingIsLostWithANameForEveryOperation) {
  loses_nothing<4, word_slots>();
  loses_nothing<40, word_slots>();
  loses_nothing<4, healing>();
  loses_nothing<1, healing>();
}
/// More processes than there are blocks for their threads.
TEST(BetweenProcesses, NothingIsLostByThoseWithoutABlock) { loses_nothing<4>(30); }

/// Where nothing can be written, a process that writes dies.
template <class Object>
void reads_where_nothing_can_be_written() {
  const shared<Object> object;
  object->apply(counter::add(7));
  EXPECT_EQ(object->apply(counter::read()), 7);
  const auto let = [&](int what) { ASSERT_EQ(::mprotect(object.operator->(), sizeof(Object), what), 0); };
  let(PROT_READ);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(object->apply(counter::read()), 7);
  EXPECT_DEATH(object->apply(counter::add(1)), "");
  let(PROT_READ | PROT_WRITE);
}
/// A counter too large for threads to own blocks of it.
struct wide_counter : counter {
  std::array<std::int64_t, 160> more{};
};
TEST(BetweenProcesses, ReadingWritesNothing) {
  reads_where_nothing_can_be_written<resilient<wide_counter, 2>>();
  reads_where_nothing_can_be_written<resilient<wide_counter, 33>>();
  reads_where_nothing_can_be_written<resilient<counter, 4, word_slots>>();
  reads_where_nothing_can_be_written<resilient<counter, 2, healing>>();
  reads_where_nothing_can_be_written<resilient<counter, 16, healing>>();
}

/// A thread that owns a block notes there that it is at work, and what it has seen.
template <class Object>
void reading_leaves_no_trace() {
  const shared<Object> object;
  object->apply(counter::add(7));
  EXPECT_EQ(object->apply(counter::read()), 7);
  const auto bytes = [&] {
    std::vector<unsigned char> all(sizeof(Object));
    std::memcpy(all.data(), static_cast<const void*>(object.operator->()), sizeof(Object));
    return all;
  };
  const auto before = bytes();
  for (int i = 0; i < 100; ++i) EXPECT_EQ(object->apply(counter::read()), 7);
  EXPECT_EQ(bytes(), before);
  object->apply(counter::add(1));
  EXPECT_NE(bytes(), before);
}
TEST(BetweenProcesses, ReadingLeavesNoTrace) {
  reading_leaves_no_trace<resilient<counter, 2>>();
  reading_leaves_no_trace<resilient<counter, 4>>();
  reading_leaves_no_trace<resilient<counter, 33>>();
}

double nanoseconds_each(int rounds, const std::function<void()>& what) {
  const auto cpu = [] {
    timespec now{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
  };
  const double begin = cpu();
  for (int i = 0; i < rounds; ++i) what();
  return (cpu() - begin) / rounds;
}

struct one_slot : word_slots {
  one_slot() : word_slots(1) {}
};

/// To give a slot back is to look whether a process waits; that must not be a call of the kernel ever after.
TEST(BetweenProcesses, WhoIsKilledWaitingCostsTheOthersNothing) {
  const shared<one_slot> slot;
  const auto pass = [&] { slot->release(slot->acquire()); };
  nanoseconds_each(10'000, pass);
  const double before = nanoseconds_each(100'000, pass);
  EXPECT_EQ(slot->acquire(), 0);
  for (int killed = 0; killed < 5; ++killed) {
    const pid_t waiting = ::fork();
    if (waiting == 0) {
      static_cast<void>(slot->acquire());
      ::_exit(0);
    }
    std::this_thread::sleep_for(50ms);  // it sleeps by now
    ::kill(waiting, SIGKILL);
    ::waitpid(waiting, nullptr, 0);
  }
  slot->release(0);
  nanoseconds_each(10'000, pass);
  EXPECT_LT(nanoseconds_each(100'000, pass), 8 * before);
}

}  // namespace
}  // namespace kgate
