// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>

namespace kgate::lab {

/// The text under test breaks a rule of the machine concept, so that nothing said about it would be true. what() names
/// the label.
class text_error : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

}  // namespace kgate::lab
