// SPDX-License-Identifier: Apache-2.0
// A shared object with its own copy of the headers, for room_sharing_test and room_stranger_test.
#include "kgate/semaphore.hpp"

extern "C" {
[[gnu::visibility("default")]] const void* plugin_room() { return &kgate::detail::this_room(); }
[[gnu::visibility("default")]] void* plugin_make() { return new kgate::semaphore(1); }
[[gnu::visibility("default")]] void plugin_destroy(void* semaphore) {
  delete static_cast<kgate::semaphore*>(semaphore);
}
[[gnu::visibility("default")]] void plugin_release(void* semaphore) {
  static_cast<kgate::semaphore*>(semaphore)->release();
}
[[gnu::visibility("default")]] void plugin_acquire(void* semaphore) {
  static_cast<kgate::semaphore*>(semaphore)->acquire();
}
[[gnu::visibility("default")]] long plugin_waiters(void* semaphore) {
  return static_cast<kgate::semaphore*>(semaphore)->waiters();
}
}
