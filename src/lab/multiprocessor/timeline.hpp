// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What comes next in virtual time: at most one event of each processor, the earliest at the root of a tournament. Of
/// two at the same time the one that was planned first comes first, so a run is determined.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "lab/multiprocessor/costs.hpp"

namespace kgate::lab {

class timeline {
 public:
  static constexpr nanoseconds never = std::numeric_limits<nanoseconds>::max();
  static constexpr int processors_max = 1 << 15;

  explicit timeline(int processors)
      : leaves_(std::bit_ceil(static_cast<std::size_t>(processors))), tree_(2 * leaves_, event{}) {}

  /// The one event of this processor is at `time` from now on; never: it has none.
  void set(int processor, nanoseconds time) {
    const std::uint64_t number = time == never ? 0 : ++planned_ * processors_max;
    event first{time, number | static_cast<std::uint64_t>(processor)};
    for (std::size_t at = leaves_ + static_cast<std::size_t>(processor); at > 1; at /= 2) {
      tree_[at] = first;
      const event& rival = tree_[at ^ 1];
      const bool loses = later(first, rival);
      first.time = loses ? rival.time : first.time;
      first.order = loses ? rival.order : first.order;
    }
    tree_[1] = first;
  }

  bool empty() const { return tree_[1].time == never; }
  nanoseconds time() const { return tree_[1].time; }
  int processor() const { return static_cast<int>(tree_[1].order % processors_max); }

  /// When the earliest of the other processors has its event: that processor lost to the first on its way to the root.
  nanoseconds next_of_others() const {
    nanoseconds earliest = never;
    for (std::size_t at = leaves_ + static_cast<std::size_t>(processor()); at > 1; at /= 2)
      earliest = tree_[at ^ 1].time < earliest ? tree_[at ^ 1].time : earliest;
    return earliest;
  }

 private:
  struct event {
    nanoseconds time = never;
    std::uint64_t order = 0;  ///< when it was planned, and by which processor
  };
  /// Without a branch: which of two comes first cannot be predicted.
  static bool later(const event& a, const event& b) {
    return static_cast<bool>(static_cast<int>(a.time > b.time) |
                             (static_cast<int>(a.time == b.time) & static_cast<int>(a.order > b.order)));
  }

  std::size_t leaves_;
  std::vector<event> tree_;  ///< the winners from 1 on, then a leaf for each processor
  std::uint64_t planned_ = 0;
};

}  // namespace kgate::lab
