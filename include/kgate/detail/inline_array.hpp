// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <new>

namespace kgate::detail {

/// A fixed_array whose elements lie inside it: no allocation and no pointer, so that what contains it may be placed in
/// memory shared by processes.
template <class T, std::size_t Size>
class inline_array {
 public:
  /// Element i is what make(i) returns; `size` must be Size.
  template <class Make>
  inline_array(std::size_t /*size*/, Make&& make) {
    for (std::size_t i = 0; i < Size; ++i) ::new (static_cast<void*>(bytes_ + i * sizeof(T))) T(make(i));
  }
  inline_array(const inline_array&) = delete;
  inline_array& operator=(const inline_array&) = delete;
  ~inline_array() {
    for (std::size_t i = Size; i > 0; --i) std::destroy_at(&(*this)[i - 1]);
  }

  T& operator[](std::size_t i) noexcept { return *std::launder(reinterpret_cast<T*>(bytes_ + i * sizeof(T))); }
  const T& operator[](std::size_t i) const noexcept {
    return *std::launder(reinterpret_cast<const T*>(bytes_ + i * sizeof(T)));
  }
  static constexpr std::size_t size() noexcept { return Size; }

 private:
  alignas(T) std::byte bytes_[Size * sizeof(T)];
};

}  // namespace kgate::detail
