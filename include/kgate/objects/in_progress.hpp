// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kgate/detail/contracts.hpp"
#include "kgate/detail/cxx20.hpp"

namespace kgate::detail {

inline constexpr const char* nested_apply =
    "apply was called while this thread is in apply of the same object: by its operation, or by a signal handler";

/// Marks that this thread carries out an operation on an object; the program stops if it already does.
class in_progress {
 public:
  explicit in_progress(const void* object) noexcept : object_(object), outer_(innermost_) {
    for (const in_progress* one = outer_; one != nullptr; one = one->outer_)
      KGATE_EXPECTS(one->object_ != object, nested_apply);
    innermost_ = this;
  }
  in_progress(const in_progress&) = delete;
  in_progress& operator=(const in_progress&) = delete;
  ~in_progress() { innermost_ = outer_; }

 private:
  static inline constinit thread_local const in_progress* innermost_ = nullptr;

  const void* object_;
  const in_progress* outer_;
};

}  // namespace kgate::detail
