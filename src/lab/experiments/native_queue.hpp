// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The queue experiment on this machine: threads for processes, more of them than processors, and the kernel's
/// scheduler.

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "lab/experiments/queue_curves.hpp"

namespace kgate::lab {

struct native_queue_request {
  queue_figure figure = queue_figure::fig10;
  long operations = 0;                             ///< in all; 0: native_operations(figure)
  std::vector<int> processes;                      ///< P; empty: 1, 2, 3, 4, 6 and 8 for each processor
  int repetitions = 3;                             ///< of each point
  double seconds_max = 1;                          ///< of one measurement; what is not done then is left undone
  bool peers = true;                               ///< also std::mutex and kgate::resilient as users get them
  const std::atomic<bool>* interrupted = nullptr;  ///< set when the user asks to stop: the points so far are returned
  std::function<void(const std::string& curve, int done, int all)> report;  ///< before each measurement
};

/// The processors this program may use.
int native_processors();

/// Curves for the MCS lock, Herlihy's object for two large N, and k-assignment with k = 1, 2, 4, 8, 16. All threads
/// wait by spinning, as in the paper. Repetitions go round over all curves, so that a disturbance of the machine falls
/// on all of them.
queue_curves run_native_queue(const native_queue_request& request);

}  // namespace kgate::lab
