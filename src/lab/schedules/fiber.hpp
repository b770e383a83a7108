// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace kgate::lab::schedules {

/// Where a stack is.
struct stack_range {
  const void* low = nullptr;
  std::size_t size = 0;
};

/// A function that can be left in the middle and resumed. Destroying it unwinds what it has on its stack.
class fiber {
 public:
  explicit fiber(std::function<void(fiber&)> body);
  fiber(const fiber&) = delete;
  fiber& operator=(const fiber&) = delete;
  ~fiber();

  /// Runs the body until it next leaves.
  void resume();
  /// Called inside the body: back to the caller of resume.
  void leave();

 private:
  struct unwinding {};

  std::function<void(fiber&)> body_;
  stack_range inner_;  ///< the body's
  stack_range outer_;  ///< that of the caller of resume
  struct contexts;     ///< of the library: a file that includes this needs none
  std::unique_ptr<contexts> contexts_;
  bool started_ = false;
  bool unwind_ = false;
};

}  // namespace kgate::lab::schedules
