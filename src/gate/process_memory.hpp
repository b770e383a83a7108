// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Memory that belongs to one process: a child made by fork finds it cleared.

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <new>

#include "kgate/detail/cache_line.hpp"

namespace kgate::detail::gates {

/// An array of cells on cache lines of their own, and the knowledge whose they are. The first cells share its page.
class process_memory {
 public:
  explicit process_memory(std::size_t cells) : bytes_((cells + 1) * cache_line) {
    void* const memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    memory_ = static_cast<unsigned char*>(memory);
    cleared_by_kernel_ = madvise(memory, bytes_, MADV_WIPEONFORK) == 0;
    mark() = 1;
  }
  process_memory(const process_memory&) = delete;
  process_memory& operator=(const process_memory&) = delete;
  ~process_memory() { munmap(memory_, bytes_); }

  /// Whether this process made it.
  bool is_ours() const noexcept { return cleared_by_kernel_ ? mark() != 0 : process_ == getpid(); }
  /// Whether the cells can be relied on to be 0 in a child: kernels before 4.14 do not clear them.
  bool cleared_by_kernel() const noexcept { return cleared_by_kernel_; }
  std::uint64_t* cell(std::size_t i) noexcept {
    return reinterpret_cast<std::uint64_t*>(memory_ + (i + 1) * cache_line);
  }

 private:
  std::uint64_t& mark() const noexcept { return *reinterpret_cast<std::uint64_t*>(memory_); }

  std::size_t bytes_;
  unsigned char* memory_ = nullptr;
  bool cleared_by_kernel_ = false;
  pid_t process_ = getpid();
};

}  // namespace kgate::detail::gates
