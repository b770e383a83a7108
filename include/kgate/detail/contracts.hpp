// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <cstdlib>

namespace kgate::detail {

[[noreturn]] inline void contract_failed(const char* what, const char* file, int line) noexcept {
  std::fprintf(stderr, "kgate: %s (%s:%d)\n", what, file, line);
  std::abort();
}

/// A documented exception; without exceptions the program stops.
template <class Exception, class... Arguments>
[[noreturn]] void throw_or_stop(Arguments&&... arguments) {
#if defined(__cpp_exceptions)
  throw Exception(static_cast<Arguments&&>(arguments)...);
#else
  contract_failed(Exception(static_cast<Arguments&&>(arguments)...).what(), "exceptions are off", 0);
#endif
}

}  // namespace kgate::detail

/// A programmer's error: the program stops with `what`, in every build type. Never for bad input, which gets an error
/// value or a documented exception.
#define KGATE_EXPECTS(condition, what) \
  ((condition) ? static_cast<void>(0) : ::kgate::detail::contract_failed(what, __FILE__, __LINE__))
