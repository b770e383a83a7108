// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <utility>

#include "kgate/detail/process.hpp"

namespace kgate {

/// An array whose size is known when it is made and whose elements are made in place, so that they need be neither
/// copyable nor movable (shared variables are neither), and keep their alignment.
template <class T>
class fixed_array {
 public:
  static constexpr bool checked = requires(std::size_t n) { T::index_out_of_range(n, n); };

  /// Element i is what make(i) returns.
  template <class Make>
  fixed_array(std::size_t size, Make&& make) : items_(std::allocator<T>{}.allocate(size)) {
    struct undo {
      fixed_array* unfinished;
      std::size_t capacity;
      ~undo() {
        if (unfinished != nullptr) unfinished->destroy(capacity);
      }
    } on_exception{this, size};
    for (; size_ < size; ++size_) ::new (static_cast<void*>(items_ + size_)) T(make(size_));
    on_exception.unfinished = nullptr;
    capacity_ = size;
  }
  fixed_array(const fixed_array&) = delete;
  fixed_array& operator=(const fixed_array&) = delete;
  ~fixed_array() { destroy(capacity_); }

  /// i must be less than size(). Elements that want to know of an index that is not have a static index_out_of_range.
  T& operator[](std::size_t i) noexcept(!checked) { return items_[within(i)]; }
  const T& operator[](std::size_t i) const noexcept(!checked) { return items_[within(i)]; }
  /// One element per process: the paper's P[p].
  T& operator[](process_id p) noexcept(!checked) { return items_[within(static_cast<std::size_t>(p.value))]; }

  std::size_t size() const noexcept { return size_; }
  T* begin() noexcept { return items_; }
  T* end() noexcept { return items_ + size_; }

 private:
  std::size_t within(std::size_t i) const noexcept(!checked) {
    if constexpr (checked)
      if (i >= size_) T::index_out_of_range(i, size_);
    return i;
  }
  void destroy(std::size_t capacity) noexcept {
    while (size_ > 0) std::destroy_at(items_ + --size_);
    std::allocator<T>{}.deallocate(items_, capacity);
  }

  T* items_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace kgate
