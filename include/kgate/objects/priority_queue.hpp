// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kgate/detail/cxx20.hpp"

/// A bounded priority queue, as a sequential object: a binary heap in an array, as in Herlihy 1993 and so in the
/// experiments of Anderson & Moir 1997. A value that is no number (NaN) comes after all numbers.

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kgate/objects/sequential.hpp"

namespace kgate {

template <class Value = std::int64_t, std::size_t Capacity = 16>
class priority_queue {
  static_assert(std::is_trivially_copyable_v<Value> && alignof(Value) <= 8 && Capacity > 0);
  using number = number_beside<Value>;
  enum kind : number { inserts, deletes_min };

 public:
  struct operation {
    number what = inserts;
    Value value{};
  };
  /// Whether it could be done: nothing is inserted into a full queue, nothing deleted from an empty one. The value is
  /// the one inserted or deleted.
  struct result {
    number done = 0;
    Value value{};
    explicit operator bool() const noexcept { return done != 0; }
  };

  static operation insert(const Value& value) noexcept { return {inserts, value}; }
  static operation delete_min() noexcept { return {deletes_min, Value{}}; }

  result apply(const operation& op) noexcept {
    if (op.what == inserts) {
      if (count_ >= Capacity) return {};
      std::size_t at = count_++;
      for (; at > 0 && ordered_before(op.value, heap_[(at - 1) / 2]); at = (at - 1) / 2)
        heap_[at] = heap_[(at - 1) / 2];
      heap_[at] = op.value;
      return {1, op.value};
    }
    if (count_ == 0) return {};
    const Value least = heap_[0];
    const Value last = heap_[--count_];
    std::size_t at = 0;
    for (std::size_t child; (child = 2 * at + 1) < count_; at = child) {
      if (child + 1 < count_ && ordered_before(heap_[child + 1], heap_[child])) ++child;
      if (!ordered_before(heap_[child], last)) break;
      heap_[at] = heap_[child];
    }
    heap_[at] = last;
    return {1, least};
  }

  std::size_t size() const noexcept { return count_; }
  /// What is to be copied.
  std::size_t used_bytes() const noexcept {
    return sizeof(number) + (count_ < Capacity ? count_ : Capacity) * sizeof(Value);
  }

 private:
  number count_ = 0;
  Value heap_[Capacity]{};
};

}  // namespace kgate
