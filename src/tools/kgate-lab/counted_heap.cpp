// SPDX-License-Identifier: Apache-2.0
// The heap of kgate-lab, counted: a limit on memory holds whatever grows. Texts that are compiled and loaded use it
// too.
#include <malloc.h>

#include <cstdlib>
#include <new>

#include "lab/checker/explore/memory_limit.hpp"
#include "lab/checker/model/hidden_state.hpp"

namespace {

void* counted(void* block, std::size_t bytes) {
  if (block == nullptr) throw std::bad_alloc();
  try {
    kgate::lab::take_memory(malloc_usable_size(block));
    kgate::lab::construction_heap::allocated(block, bytes);
  } catch (...) {
    std::free(block);
    throw;
  }
  return block;
}

void release(void* block) noexcept {
  if (block == nullptr) return;
  kgate::lab::construction_heap::freed(block);
  kgate::lab::give_memory(malloc_usable_size(block));
  std::free(block);
}

}  // namespace

// Arrays, and calls that return null instead of throwing, come here by the standard's own definitions.
void* operator new(std::size_t bytes) { return counted(std::malloc(bytes == 0 ? 1 : bytes), bytes); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  const auto line = static_cast<std::size_t>(alignment);
  return counted(std::aligned_alloc(line, (bytes + line - 1) / line * line), bytes);
}
void operator delete(void* block) noexcept { release(block); }
void operator delete(void* block, std::size_t) noexcept { release(block); }
void operator delete(void* block, std::align_val_t) noexcept { release(block); }
void operator delete(void* block, std::size_t, std::align_val_t) noexcept { release(block); }
