// SPDX-License-Identifier: Apache-2.0
#pragma once

/// std::stop_token and std::stop_callback where the standard library has them. LLVM's has none before version 18 (nor
/// later without -fexperimental-library): then there are types of the same names that cannot be requested to stop, so
/// that everything else compiles.

#include <version>

#if __has_include(<stop_token>)
#include <stop_token>
#endif

namespace kgate::detail {

#if defined(__cpp_lib_jthread)
using std::stop_callback;
using std::stop_token;
#else
class stop_token {
 public:
  bool stop_requested() const noexcept { return false; }
  bool stop_possible() const noexcept { return false; }
};
template <class Callback>
class [[nodiscard]] stop_callback {
 public:
  template <class C>
  stop_callback(const stop_token&, C&&) noexcept {}
  stop_callback(const stop_callback&) = delete;
  stop_callback& operator=(const stop_callback&) = delete;
};
#endif

}  // namespace kgate::detail
