// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Independent questions shared out among threads.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace kgate::lab {

/// Calls work(i, reports) for i in 0..count-1, each once, beginning in that order; `reports` is true in one thread
/// only, which may speak to the outside. The first exception ends it and is thrown on.
template <class Work>
void parallel_for(int threads, std::size_t count, Work&& work) {
  std::atomic<std::size_t> cursor{0};
  std::mutex mutex;
  std::exception_ptr failed;
  const auto run = [&](bool reports) {
    try {
      for (std::size_t i = cursor.fetch_add(1); i < count; i = cursor.fetch_add(1)) work(i, reports);
    } catch (...) {
      cursor = count;
      const std::scoped_lock lock(mutex);
      if (!failed) failed = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> others;
    for (std::size_t t = 1; t < std::min(static_cast<std::size_t>(std::max(1, threads)), count); ++t)
      others.emplace_back([&] { run(false); });
    run(true);
  }
  if (failed) std::rethrow_exception(failed);
}

/// As many threads as this machine runs at once.
inline int all_processors() { return static_cast<int>(std::max(1U, std::thread::hardware_concurrency())); }

}  // namespace kgate::lab
