// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace kgate {

/// Whether to do something again that costs time and may or may not pay: always while it pays, and more and more seldom after
/// it came to nothing several times in a row, so that a change for the better is noticed. Shared by threads, and written only
/// when what they found out differs.
class habit {
 public:
  /// What costs much the first time begins `doubtful`: as if it had failed often enough to be tried on one occasion in 8.
  enum class start : unsigned char { confident, doubtful };
  explicit habit(start how = start::confident) noexcept : failures_(how == start::doubtful ? patience_max + 3 : 0) {}

  /// `occasion` goes up with every occasion, whoever has it. What pays only if all do it for a while has one number for the
  /// whole while: it counts as one failure at most.
  bool worth_it(std::uint64_t occasion) const noexcept {
    const unsigned failures = failures_.load(std::memory_order_relaxed);
    return failures <= patience_max || (occasion & ((std::uint64_t{1} << (failures - patience_max)) - 1)) == 0;
  }
  void learn(std::uint64_t occasion, bool paid) noexcept {
    const unsigned now = failures_.load(std::memory_order_relaxed);
    if (paid) {
      if (now != 0) failures_.store(0, std::memory_order_relaxed);
    } else if (last_failure_.load(std::memory_order_relaxed) != occasion) {
      last_failure_.store(occasion, std::memory_order_relaxed);
      if (now < patience_max + seldom_max) failures_.store(now + 1, std::memory_order_relaxed);
    }
  }

 private:
  static constexpr unsigned patience_max = 3;  ///< so many failures change nothing
  static constexpr unsigned seldom_max = 10;   ///< at the most seldom, on one occasion in 2^10
  std::atomic<unsigned> failures_;
  std::atomic<std::uint64_t> last_failure_{~std::uint64_t{0}};
};

}  // namespace kgate
