// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a compiled text could keep or learn behind the checker's back, as far as its library shows it.

#include <string>
#include <string_view>
#include <vector>

namespace kgate::tool {

struct loaded_library {
  std::vector<std::string_view> statics;  ///< the memory of its static variables
  bool thread_locals = false;
  std::vector<std::string> impure_calls;  ///< functions it calls that say another thing each time, or give memory
};

/// Of the library that `inside` is in.
loaded_library library_of(const void* inside);

}  // namespace kgate::tool
