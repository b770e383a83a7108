// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Independent pieces of work on all processors of this machine.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace kgate::lab {

/// Calls work(0) .. work(count - 1), each once, beginning in that order. The first exception ends it and is thrown on.
inline void in_parallel(std::size_t count, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::exception_ptr failed;
  const auto take = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      try {
        work(i);
      } catch (...) {
        const std::lock_guard guard(mutex);
        if (!failed) failed = std::current_exception();
        next = count;
      }
    }
  };
  {
    std::vector<std::jthread> others;
    for (std::size_t t = 1; t < std::min<std::size_t>(count, std::max(1U, std::thread::hardware_concurrency())); ++t)
      others.emplace_back(take);
    take();
  }
  if (failed) std::rethrow_exception(failed);
}

}  // namespace kgate::lab
