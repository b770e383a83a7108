// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Many members that enter and leave for a while.

#include <chrono>

#include "contenders.hpp"

namespace gates_bench {

struct outcome {
  double rate = 0;    ///< passages a second
  double jain = 0;    ///< of the members' passages: 1 if all have the same number
  double cpu_us = 0;  ///< of all processes, a passage
};

class crowd {
 public:
  crowd(int members, bool as_processes, double inside_ns, double seconds);
  crowd(const crowd&) = delete;
  crowd& operator=(const crowd&) = delete;
  ~crowd();

  outcome run(contender& at);

 private:
  struct board;
  void take_part(contender& at, int member) const;

  int members_;
  bool as_processes_;
  double seconds_;
  long rounds_inside_;
  board* board_;
};

/// ns of a passage that is not disturbed, over few enough that a processor taken away spoils few of many calls.
template <class Enter, class Leave>
double ns_each(Enter&& enter, Leave&& leave) {
  constexpr int passages = 5'000;
  const auto began = std::chrono::steady_clock::now();
  for (int i = 0; i < passages; ++i) {
    enter();
    leave();
  }
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - began).count() / passages;
}

}  // namespace gates_bench
