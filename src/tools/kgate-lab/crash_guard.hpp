// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A text may do anything: where it crashes, or ends the program, the tool ends in 'undecided' with a sentence that
/// names the label.

#include "lab/checker/model/run_monitor.hpp"

namespace kgate::tool {

/// Guards the runs that `of` tells of, as long as it lives. One at a time.
class crash_guard {
 public:
  explicit crash_guard(const lab::run_monitor& of);
  ~crash_guard();
  crash_guard(const crash_guard&) = delete;
  crash_guard& operator=(const crash_guard&) = delete;
};

}  // namespace kgate::tool
