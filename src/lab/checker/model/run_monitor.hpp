// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Notices a text that loops for ever without an access, or any other call on the machine: nothing inside the run can
/// end it.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>

namespace kgate::lab {

/// What runs of a text report of themselves, one run at a time.
struct run_monitor {
  std::atomic<std::uint64_t> begun{0};
  std::atomic<std::uint64_t> ended{0};
  std::atomic<int> process{0};
  std::atomic<const char*> label{""};
};

/// Watches from a thread of its own, as long as it exists.
class endless_run_watch {
 public:
  struct limits {
    std::chrono::milliseconds run_max{5000};   ///< runs take microseconds
    const std::atomic<bool>* hurry = nullptr;  ///< once true, a tenth of that is too long
  };
  /// Calls `endless` with a sentence that names the label, once, if a run takes too long.
  endless_run_watch(const run_monitor& of, const limits& within, std::function<void(const std::string&)> endless);
  ~endless_run_watch();
  endless_run_watch(const endless_run_watch&) = delete;
  endless_run_watch& operator=(const endless_run_watch&) = delete;

 private:
  void watch();

  const run_monitor& of_;
  const limits limits_;
  const std::function<void(const std::string&)> endless_;
  std::atomic<bool> over_{false};
  std::thread thread_;
};

}  // namespace kgate::lab
