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
  std::atomic<const char*> part{nullptr};  ///< what runs, if it is no passage: "constructor", "invariant"
};

/// Tells a monitor of a run, while it lives, of something that is no passage.
class monitored_part {
 public:
  monitored_part(run_monitor& of, const char* part) : of_(of) {
    of_.part.store(part, std::memory_order_relaxed);
    of_.begun.fetch_add(1);
  }
  ~monitored_part() {
    of_.ended.store(of_.begun.load());
    of_.part.store(nullptr, std::memory_order_relaxed);
  }
  monitored_part(const monitored_part&) = delete;
  monitored_part& operator=(const monitored_part&) = delete;

 private:
  run_monitor& of_;
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
