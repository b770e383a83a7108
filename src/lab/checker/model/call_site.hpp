// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The position in the source from which a function was called, as the default value of a parameter.

#include <cstdint>

#if __has_include(<source_location>)
#include <source_location>
#endif

namespace kgate::lab {

#if defined(__cpp_lib_source_location)

using call_site = std::source_location;

#else

/// std::source_location as far as it is used here, for compilers whose library lacks it.
class call_site {
 public:
  static constexpr call_site current(const char* file = __builtin_FILE(), const char* function = __builtin_FUNCTION(),
                                     std::uint_least32_t line = __builtin_LINE(),
                                     std::uint_least32_t column = __builtin_COLUMN()) noexcept {
    return {file, function, line, column};
  }
  constexpr call_site() = default;
  constexpr const char* file_name() const noexcept { return file_; }
  constexpr const char* function_name() const noexcept { return function_; }
  constexpr std::uint_least32_t line() const noexcept { return line_; }
  constexpr std::uint_least32_t column() const noexcept { return column_; }

 private:
  constexpr call_site(const char* file, const char* function, std::uint_least32_t line, std::uint_least32_t column)
      : file_(file), function_(function), line_(line), column_(column) {}

  const char* file_ = "";
  const char* function_ = "";
  std::uint_least32_t line_ = 0;
  std::uint_least32_t column_ = 0;
};

#endif

/// The number of a call site: equal for two sites exactly if file, function (with its template arguments), line and
/// column are. Safe to call from several threads.
std::uint32_t site_number(const call_site& at);

}  // namespace kgate::lab
