// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Independent questions shared out among threads.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace kgate::lab {

/// Calls work(i, reports) for i in 0..count-1; `reports` is true in one thread only, which may speak to the outside.
template <class Work>
void share_out(int threads, std::size_t count, Work&& work) {
  std::atomic<std::size_t> cursor{0};
  const auto run = [&](bool reports) {
    for (std::size_t i = cursor.fetch_add(1); i < count; i = cursor.fetch_add(1)) work(i, reports);
  };
  std::vector<std::thread> others;
  for (std::size_t t = 1; t < std::min(static_cast<std::size_t>(std::max(1, threads)), count); ++t)
    others.emplace_back([&] { run(false); });
  run(true);
  for (std::thread& t : others) t.join();
}

}  // namespace kgate::lab
