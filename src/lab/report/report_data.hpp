// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Everything the report shows, measured. docs/experiments.md says under what conditions.

#include <atomic>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace kgate::lab::report {

/// How much of each measurement.
struct report_effort {
  std::string name;
  double check_seconds = 0;  ///< of each algorithm
  int check_N = 3;         ///< the size at which algorithms are checked: (N, 2), or less where the catalogue forbids it
  double rmr_seconds = 0;  ///< of each exhaustive search
  int sampled_steps = 0;   ///< of each sampled schedule
  int space_N = 0;
  double space_seconds = 0;    ///< of each count
  int operations_divisor = 1;  ///< simulated figures: the paper's operations and the quantum divided by this
  int simulated_repetitions = 1;
  std::vector<int> scale;  ///< processors
  int scale_herlihy = 0;   ///< processors up to which Herlihy's object for all processes is simulated
  int native_repetitions = 1;
  double native_seconds = 0;  ///< of each native measurement
};

report_effort default_effort();
/// A sketch in seconds.
report_effort quick_effort();

struct report_data {
  nlohmann::json all;      ///< for report_page()
  nlohmann::json example;  ///< a trace for the viewer
};

/// Calls report(what) as it goes on. Stops early, with incomplete data, when interrupted.
report_data gather(const report_effort& effort, nlohmann::json bench, const std::atomic<bool>& interrupted,
                   const std::function<void(const std::string&)>& report);

}  // namespace kgate::lab::report
