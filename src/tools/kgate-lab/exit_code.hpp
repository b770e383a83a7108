// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>

namespace kgate::tool {

/// How kgate-lab ends; man/kgate-lab.1 says the same.
enum class exit_code {
  holds = 0,      ///< every property holds, or the command was carried out
  violated = 1,   ///< a property is violated, or a bound exceeded
  usage = 2,      ///< a mistake in the command or in a file it names
  undecided = 3,  ///< a limit was reached or the user interrupted
  failed = 4,     ///< the result could not be written, or the machine failed
};

/// A mistake of the caller's: one line that says what is allowed. Thrown before anything is printed.
struct usage_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Something outside the program failed.
struct failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace kgate::tool
