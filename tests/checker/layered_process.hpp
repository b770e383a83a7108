// SPDX-License-Identifier: Apache-2.0
#pragma once

/// For machines that tests put on top of the checker's: a process of the upper one is one of the lower, and does there
/// what the upper machine has no opinion on.

#include "lab/checker/model/machine.hpp"

namespace kgate::lab {

template <class Upper>
class layered_process {
 public:
  explicit layered_process(checker_machine::Process& under) : under_(under) {}
  process_id id() const { return under_.id(); }
  Upper& operator[](const char* label) {
    under_[label];
    return static_cast<Upper&>(*this);
  }
  void doorway_end() { under_.doorway_end(); }
  auto frame() { return under_.frame(); }
  void live(call_site at = call_site::current()) { under_.live(at); }
  template <class... T>
  void live(const live_value& first, const T&... rest) {
    under_.live(first, rest...);
  }
  void pause() {}
  checker_machine::Process& under() { return under_; }

 private:
  checker_machine::Process& under_;
};

}  // namespace kgate::lab
