// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What every process of the queue experiment does, on whatever machine: insertions and deletions in turn.

#include <cstdint>

namespace kgate::lab {

/// Half full, so that operations find something to do in either direction.
template <class Queue>
Queue half_full(int capacity) {
  Queue q;
  for (std::int64_t i = 0; i < capacity / 2; ++i) q.apply(Queue::insert(i * 16'000 / capacity));
  return q;
}

/// The operations of one process, one after the other.
template <class Queue>
class queue_workload {
 public:
  explicit queue_workload(std::uint64_t seed) : random_(seed) {}

  typename Queue::operation next() {
    random_ = random_ * 6'364'136'223'846'793'005U + 1'442'695'040'888'963'407U;
    inserts_ = !inserts_;
    return inserts_ ? Queue::insert(static_cast<std::int64_t>(random_ >> 50)) : Queue::delete_min();
  }

 private:
  std::uint64_t random_;
  bool inserts_ = false;
};

}  // namespace kgate::lab
