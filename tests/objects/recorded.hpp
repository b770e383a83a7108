// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Threads hammer an object, every operation is recorded, and every recording must be linearizable.

#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <thread>
#include <vector>

#include "kgate/resilient.hpp"
#include "lab/schedules/linearize.hpp"

namespace kgate::recorded {

inline std::int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// T, but its operations now and then give the processor away in the middle: on few processors nothing else makes
/// threads meet inside. The linearizer applies T itself.
template <class T>
struct yielding : T {
  typename T::result apply(const typename T::operation& op) noexcept {
    thread_local std::uint32_t random = static_cast<std::uint32_t>(now());
    random = random * 1664525 + 1013904223;
    if (random >> 30 == 0) ::sched_yield();
    return T::apply(op);
  }
};

using heap = priority_queue<std::int64_t, 8>;
using line = fifo_queue<std::int64_t, 8>;
using dictionary = small_map<std::int64_t, std::int64_t, 6>;

/// A random operation, and the ones that bring an object back to where it began.
inline counter::operation some_operation(const counter&, std::mt19937& random) {
  return counter::add(static_cast<std::int64_t>(random() % 3));
}
inline heap::operation some_operation(const heap&, std::mt19937& random) {
  return random() % 2 == 0 ? heap::insert(static_cast<std::int64_t>(random() % 50)) : heap::delete_min();
}
inline line::operation some_operation(const line&, std::mt19937& random) {
  return random() % 2 == 0 ? line::push(static_cast<std::int64_t>(random() % 50)) : line::pop();
}
inline dictionary::operation some_operation(const dictionary&, std::mt19937& random) {
  const auto key = static_cast<std::int64_t>(random() % 8);
  switch (random() % 3) {
    case 0:
      return dictionary::find(key);
    case 1:
      return dictionary::put(key, static_cast<std::int64_t>(random() % 50));
    default:
      return dictionary::erase(key);
  }
}
template <class Apply>
void empty(const counter&, Apply&& apply) {
  apply(counter::add(-apply(counter::read())));
}
template <class Apply>
void empty(const heap&, Apply&& apply) {
  while (apply(heap::delete_min())) {
  }
}
template <class Apply>
void empty(const line&, Apply&& apply) {
  while (apply(line::pop())) {
  }
}
template <class Apply>
void empty(const dictionary&, Apply&& apply) {
  for (std::int64_t key = 0; key < 8; ++key) apply(dictionary::erase(key));
}

/// How many operations began before one that had begun earlier ended.
template <class T>
long operations_that_met(std::vector<lab::observed_operation<T>>& history) {
  std::sort(history.begin(), history.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
  long met = 0;
  std::int64_t latest_end = std::numeric_limits<std::int64_t>::min();
  for (const auto& one : history) {
    met += one.begin < latest_end;
    latest_end = std::max(latest_end, one.end);
  }
  return met;
}

/// Rounds of recorded operations until there were as many as asked for, and time is not up. Returns how many.
/// apply(thread, operation) uses the object under test, which must be empty.
template <class T, class Apply>
long expect_linearizable(int threads, long operations, Apply&& apply) {
  constexpr int each = 30;
  std::vector<std::vector<lab::observed_operation<T>>> recordings(static_cast<std::size_t>(threads));
  bool over = false;
  long recorded = 0, met = 0;
  const auto judge = [&]() noexcept {
    std::vector<lab::observed_operation<T>> history;
    for (auto& one : recordings) {
      history.insert(history.end(), one.begin(), one.end());
      one.clear();
    }
    recorded += static_cast<long>(history.size());
    met += operations_that_met(history);
    const bool linearizable = lab::linearizer<T>(T(), std::move(history)).linearizable();
    EXPECT_TRUE(linearizable) << "after " << recorded << " operations";
    over = !linearizable || recorded >= operations;
    empty(T(), [&](const typename T::operation& op) { return apply(0, op); });
  };
  std::barrier round(threads, judge);
  {
    std::vector<std::jthread> all;
    for (int t = 0; t < threads; ++t)
      all.emplace_back([&, t] {
        std::mt19937 random(static_cast<unsigned>(t) + 1);
        auto& mine = recordings[static_cast<std::size_t>(t)];
        while (!over) {
          for (int i = 0; i < each; ++i) {
            lab::observed_operation<T> one{.what = some_operation(T(), random), .result = {}, .begin = now(), .end = 0};
            one.result = apply(t, one.what);
            one.end = now();
            mine.push_back(one);
          }
          round.arrive_and_wait();
        }
      });
  }
  // Operations one after the other would show nothing.
  EXPECT_GT(met, recorded / 10);
  testing::Test::RecordProperty("operations that met another", static_cast<int>(met));
  return recorded;
}

/// The wait-free object for as many threads as there are.
template <class T>
void wait_free_is_linearizable(long operations) {
  wait_free<yielding<T>, 4> object;
  EXPECT_GE(expect_linearizable<T>(4, operations,
                                   [&](int t, const typename T::operation& op) { return object.apply(t, op); }),
            operations);
}
/// A resilient object for fewer.
template <class T, class Slots = any_order, int K = 3>
void resilient_is_linearizable(long operations) {
  resilient<yielding<T>, K, Slots> object;
  EXPECT_GE(
      expect_linearizable<T>(5, operations, [&](int, const typename T::operation& op) { return object.apply(op); }),
      operations);
}

}  // namespace kgate::recorded
