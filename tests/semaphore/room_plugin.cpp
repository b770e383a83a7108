// SPDX-License-Identifier: Apache-2.0
// A shared object with its own copy of the headers, for room_sharing_test.
#include "kgate/semaphore.hpp"

extern "C" {
[[gnu::visibility("default")]] const void* plugin_room() { return &kgate::detail::this_room(); }
[[gnu::visibility("default")]] void plugin_release(void* semaphore) {
  static_cast<kgate::semaphore*>(semaphore)->release();
}
[[gnu::visibility("default")]] void plugin_acquire(void* semaphore) {
  static_cast<kgate::semaphore*>(semaphore)->acquire();
}
}
