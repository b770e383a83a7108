// SPDX-License-Identifier: Apache-2.0
// A program that knows nothing of kgate opens shared objects that do, one of them made by the other compiler: they find
// one waiting room, by a symbol that the dynamic linker binds once.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "room_plugin.hpp"

namespace {

using namespace std::chrono_literals;

void use_together(const plugin& waits, const plugin& releases) {
  void* const s = waits.function<void*()>("plugin_make")();
  releases.function<void(void*)>("plugin_acquire")(s);
  std::jthread waiter([&] { waits.function<void(void*)>("plugin_acquire")(s); });
  while (waits.function<long(void*)>("plugin_waiters")(s) == 0) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(releases.function<long(void*)>("plugin_waiters")(s), 1);
  std::this_thread::sleep_for(5ms);  // so that it sleeps in the kernel
  releases.function<void(void*)>("plugin_release")(s);
  waiter.join();
  releases.function<void(void*)>("plugin_destroy")(s);
}

TEST(RoomOfAStranger, IsOneForAllThatItOpens) {
  ASSERT_EQ(::dlsym(RTLD_DEFAULT, "kgate_waiting_room_1"), nullptr) << "this program has a room of its own";
  const plugin one(KGATE_PLUGIN_ONE), two(KGATE_PLUGIN_TWO);
  ASSERT_NE(one.handle, nullptr) << ::dlerror();
  ASSERT_NE(two.handle, nullptr) << ::dlerror();
  ASSERT_EQ(one.function<const void*()>("plugin_room")(), two.function<const void*()>("plugin_room")());
  use_together(one, two);
  use_together(two, one);
}

}  // namespace
