// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kgate/detail/cxx20.hpp"

/// A bounded first-in first-out queue, as a sequential object. Its values lie at the front of its array: taking one
/// moves the others up, which costs no more than the copy that is made of them anyway, and so only what is in the queue
/// is copied.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kgate/objects/sequential.hpp"

namespace kgate {

template <class Value = std::int64_t, std::size_t Capacity = 16>
class fifo_queue {
  static_assert(std::is_trivially_copyable_v<Value> && alignof(Value) <= 8 && Capacity > 0);
  using number = number_beside<Value>;
  enum kind : number { pushes, pops };

 public:
  struct operation {
    number what = pushes;
    Value value{};
  };
  /// Whether it could be done: nothing is pushed into a full queue, nothing popped from an empty one. The value is the
  /// one pushed or popped.
  struct result {
    number done = 0;
    Value value{};
    explicit operator bool() const noexcept { return done != 0; }
  };

  static operation push(const Value& value) noexcept { return {pushes, value}; }
  static operation pop() noexcept { return {pops, Value{}}; }

  result apply(const operation& op) noexcept {
    if (op.what == pushes) {
      if (count_ >= Capacity) return {};
      values_[count_++] = op.value;
      return {1, op.value};
    }
    if (count_ == 0) return {};
    const Value first = values_[0];
    std::copy(values_ + 1, values_ + count_, values_);
    --count_;
    return {1, first};
  }

  std::size_t size() const noexcept { return count_; }
  /// What is to be copied.
  std::size_t used_bytes() const noexcept {
    return sizeof(number) + (count_ < Capacity ? count_ : Capacity) * sizeof(Value);
  }

 private:
  number count_ = 0;
  Value values_[Capacity]{};
};

}  // namespace kgate
