// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kgate/detail/cxx20.hpp"

/// A small map of fixed capacity, as a sequential object: its entries lie in an array ordered by key. A key that
/// is no number (NaN) is a key like any other, behind all numbers.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kgate/objects/sequential.hpp"

namespace kgate {

template <class Key = std::int64_t, class Value = std::int64_t, std::size_t Capacity = 16>
class small_map {
  static_assert(std::is_trivially_copyable_v<Key> && std::is_trivially_copyable_v<Value> && alignof(Key) <= 8 &&
                alignof(Value) <= 8 && Capacity > 0);
  struct entry {
    Key key;
    Value value;
  };
  using number = number_beside<entry>;
  enum kind : number { finds, puts, erases };

 public:
  struct operation {
    number what = finds;
    Key key{};
    Value value{};
  };
  /// The value the key had, if it had one; full: a new key found no room.
  struct result {
    std::uint32_t found = 0;
    std::uint32_t full = 0;
    Value value{};
    explicit operator bool() const noexcept { return found != 0; }
  };

  static operation find(const Key& key) noexcept { return {finds, key, Value{}}; }
  /// Gives the key a value, new or instead of the one it has.
  static operation put(const Key& key, const Value& value) noexcept { return {puts, key, value}; }
  static operation erase(const Key& key) noexcept { return {erases, key, Value{}}; }
  static bool reads_only(const operation& op) noexcept { return op.what == finds; }

  result apply(const operation& op) noexcept {
    entry* const end = entries_ + count_;
    entry* const at = std::lower_bound(entries_, end, op.key,
                                       [](const entry& e, const Key& key) { return ordered_before(e.key, key); });
    const bool found = at != end && !ordered_before(op.key, at->key);
    const result was = found ? result{1, 0, at->value} : result{};
    if (op.what == puts) {
      if (!found) {
        if (count_ >= Capacity) return {0, 1, Value{}};
        std::copy_backward(at, end, end + 1);
        ++count_;
      }
      *at = {op.key, op.value};
    } else if (op.what == erases && found) {
      std::copy(at + 1, end, at);
      --count_;
    }
    return was;
  }

  std::size_t size() const noexcept { return count_; }
  /// What is to be copied.
  std::size_t used_bytes() const noexcept {
    return sizeof(number) + (count_ < Capacity ? count_ : Capacity) * sizeof(entry);
  }

 private:
  number count_ = 0;
  entry entries_[Capacity]{};
};

}  // namespace kgate
