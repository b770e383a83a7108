// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kgate/detail/cxx20.hpp"

/// What the constructions of this room make concurrent: a sequential object, that is a trivially copyable state, one
/// type that holds any of its operations, and a function that carries one out.
///
///     struct counter {
///       struct operation { long add; };
///       using result = long;
///       result apply(const operation& op) noexcept { return std::exchange(value, value + op.add); }
///       long value = 0;
///     };
///
/// apply must depend on nothing but the state and the operation, and must end: others carry out my operation for me on
/// copies of the state, and only one of these copies counts. So neither state nor operation nor result may refer to
/// memory elsewhere (objects/self_contained.hpp), and apply must not use the object it is an operation of.
///
/// An object some of whose operations leave the state as it is says which: `static bool reads_only(const operation&)
/// noexcept`. These are then carried out without writing anything that others see.
///
/// A state that is often smaller than its type says how much of it matters: `std::size_t used_bytes() const`, counted
/// from its first byte. used_bytes may look at the first eight bytes of the state only, and is called on what may be a
/// torn copy of them: it must answer something for any content.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <type_traits>

#include "kgate/objects/self_contained.hpp"

namespace kgate {

/// The largest state that is copied: an operation has its copy on the stack.
inline constexpr std::size_t state_bytes_max = std::size_t{1} << 16;

template <class T>
concept Sequential = std::is_trivially_copyable_v<T> && std::is_trivially_copyable_v<typename T::operation> &&
    std::is_trivially_copyable_v<typename T::result> && std::is_trivially_destructible_v<T> && SelfContained<T> &&
    SelfContained<typename T::operation> && SelfContained<typename T::result> &&
    requires(T& state, const typename T::operation& op) {
  { state.apply(op) }
  noexcept->std::same_as<typename T::result>;
};

/// A state that an operation can have on its stack.
template <class T>
concept SmallState = sizeof(T) <= state_bytes_max;

/// Whether op leaves every state as it is, as far as the object says.
template <Sequential T>
constexpr bool reads_only([[maybe_unused]] const typename T::operation& op) noexcept {
  if constexpr (requires {
                  { T::reads_only(op) } -> std::same_as<bool>;
                })
    return T::reads_only(op);
  else
    return false;
}

/// a < b, with what is no number (NaN) behind all numbers and equal to itself, so that the order is one.
template <class T>
constexpr bool ordered_before(const T& a, const T& b) noexcept {
  if constexpr (std::is_floating_point_v<T>)
    return a < b || (b != b && a == a);  // NOLINT(misc-redundant-expression): whether it is a number
  else
    return a < b;
}

/// A number that lies beside values of type T without a gap: half a word beside small ones, so that less is copied.
template <class T>
using number_beside = std::conditional_t<alignof(T) <= 4, std::uint32_t, std::uint64_t>;

/// A value as machine words, which is how it is copied in and out of shared memory.
template <class T>
class in_words {
 public:
  static constexpr std::size_t size = (sizeof(T) + 7) / 8;

  in_words() noexcept {}  // the words come one by one
  explicit in_words(const T& value) noexcept { *this = value; }
  in_words& operator=(const T& value) noexcept {
    if constexpr (sizeof(T) % 8 != 0) set(size - 1, 0);  // the bytes behind a value that does not fill its last word
    std::memcpy(bytes_, &value, sizeof(T));
    return *this;
  }

  std::uint64_t get(std::size_t i) const noexcept {
    std::uint64_t word;
    std::memcpy(&word, bytes_ + 8 * i, 8);
    return word;
  }
  void set(std::size_t i, std::uint64_t word) noexcept { std::memcpy(bytes_ + 8 * i, &word, 8); }
  /// The value itself, once its words are there.
  T& value() noexcept { return *std::launder(reinterpret_cast<T*>(bytes_)); }
  const T& value() const noexcept { return *std::launder(reinterpret_cast<const T*>(bytes_)); }

 private:
  alignas(std::max(alignof(T), alignof(std::uint64_t))) std::byte bytes_[8 * size];
};

/// How many words of a state matter, at least one; the first is there already, and may be torn.
template <Sequential T>
std::size_t used_words(const in_words<T>& state) noexcept {
  if constexpr (requires {
                  { state.value().used_bytes() } -> std::convertible_to<std::size_t>;
                })
    return std::clamp<std::size_t>((state.value().used_bytes() + 7) / 8, 1, in_words<T>::size);
  else
    return in_words<T>::size;
}

}  // namespace kgate
