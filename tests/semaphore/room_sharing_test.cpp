// SPDX-License-Identifier: Apache-2.0
// There is one waiting room in a process: shared objects opened with RTLD_LOCAL and compiled with hidden visibility
// wake each other's waiters. And in the child of a fork it is empty.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "kgate/semaphore.hpp"
#include "room_plugin.hpp"

namespace {

using namespace std::chrono_literals;

void use_together(const plugin& waits, const plugin& releases) {
  kgate::semaphore s(1);
  s.acquire();
  std::jthread waiter([&] { waits.function<void(void*)>("plugin_acquire")(&s); });
  while (s.waiters() == 0) std::this_thread::sleep_for(1ms);
  std::this_thread::sleep_for(5ms);  // so that it sleeps in the kernel
  releases.function<void(void*)>("plugin_release")(&s);
}

TEST(RoomSharing, ThereIsOneRoomHoweverManyObjectsAreLoaded) {
  const plugin one(KGATE_PLUGIN_ONE), two(KGATE_PLUGIN_TWO);
  ASSERT_NE(one.handle, nullptr) << ::dlerror();
  ASSERT_NE(two.handle, nullptr) << ::dlerror();
  const void* const here = &kgate::detail::this_room();
  EXPECT_EQ(one.function<const void*()>("plugin_room")(), here);
  EXPECT_EQ(two.function<const void*()>("plugin_room")(), here);
  use_together(one, two);
  use_together(two, one);
}

TEST(RoomSharing, TheChildOfAForkFindsItEmpty) {
  kgate::semaphore waited_for(1), unused(1);
  waited_for.acquire();
  std::jthread waiter([&] { waited_for.acquire(); });
  while (waited_for.waiters() == 0) std::this_thread::sleep_for(1ms);
  const pid_t child = ::fork();
  if (child == 0) {
    bool good = waited_for.waiters() == 0;
    unused.acquire();
    std::thread other([&] { unused.acquire(); });
    while (unused.waiters() == 0) std::this_thread::sleep_for(1ms);
    unused.release();
    other.join();
    ::_exit(good ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(waited_for.waiters(), 1);
  waited_for.release();
}

}  // namespace
