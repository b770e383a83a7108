// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What is measured: the paper's priority queue, shared by threads or processes in various ways.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "kgate/objects/priority_queue.hpp"

namespace kgate::bench {

/// The paper does not print the size of its queue; 16 places, half full at the start.
using queue = priority_queue<std::int64_t, 16>;
queue half_full();

/// One way to share the queue.
struct contender {
  std::string name;
  /// Operations a second. Between operations a thread computes for so many rounds, each a multiplication that waits for
  /// the one before: about 1.3 ns.
  std::function<double(int threads, int rounds_between, double seconds)> run;
  std::size_t bytes = 0;   ///< of the whole object
  std::size_t blocks = 0;  ///< copies of the state in it, for those that copy
  std::size_t block_bytes = 0;
};
std::vector<contender> threads_contenders();

/// Processes instead of threads, of which one is stopped inside an operation, again and again.
struct preemption {
  int processes = 16;
  double stopped = 0.100;  ///< seconds: a quantum of the scheduler in the paper's second experiment
  double between = 0.004;  ///< seconds from its continuation to the next one's stop: about a turn; 0 stops none at all
};
struct preempted_contender {
  std::string name;
  std::function<double(const preemption&, double seconds)> run;  ///< operations a second
};
std::vector<preempted_contender> processes_contenders();

/// States of 8, 32 or 64 bytes; of a hundred operations so many only read.
struct words_contender {
  std::string name;
  std::function<double(int threads, int reads_in_hundred, double seconds)> run;  ///< operations a second
};
std::vector<words_contender> words_contenders(std::size_t bytes);

}  // namespace kgate::bench
