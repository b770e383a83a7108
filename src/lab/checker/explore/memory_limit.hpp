// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The memory in use against a limit. What the laboratory reserves is counted as it comes into use; the heap is counted
/// in programs whose operator new does so, as kgate-lab's does.

#include <cstddef>
#include <cstdint>

namespace kgate::lab {

/// Counts bytes that come into use. Throws std::bad_alloc, and counts nothing, if a limit forbids it.
void take_memory(std::size_t bytes);
void give_memory(std::size_t bytes) noexcept;

/// Limits what comes into use while it lives, in all threads. Of limits inside each other the narrowest counts.
class memory_limit {
 public:
  explicit memory_limit(std::uint64_t bytes);
  memory_limit(const memory_limit&) = delete;
  memory_limit& operator=(const memory_limit&) = delete;
  ~memory_limit();

  /// Whether something was refused since this limit began.
  bool reached() const;

 private:
  std::uint64_t outer_most_, outer_reserve_, refused_before_;
};

}  // namespace kgate::lab
