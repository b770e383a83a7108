// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The object that gives out names itself, which is what kgate::resilient is up to K = 16.

#include <gtest/gtest.h>

#include "explored_objects.hpp"

namespace kgate::lab {

template <class T, class Rules>
class naming {
 public:
  naming(checker_machine::Memory& memory, int /*N*/, int k) : object_(memory, k) {}
  typename T::result apply(checker_machine::Process& p, const typename T::operation& op) {
    return object_.apply(p, op);
  }

 private:
  named_object<checker_machine, T, at_runtime, Rules> object_;
};

/// Blocks of their own for the first processes.
template <std::size_t Builders>
struct building_rules : named_rules {
  static constexpr std::size_t builders = Builders;
};
/// One try outside, by those that have a block of their own or only read; then inside.
template <class T, class Rules>
class building {
 public:
  building(checker_machine::Memory& memory, int /*N*/, int k) : object_(memory, k) {}
  typename T::result apply(checker_machine::Process& p, const typename T::operation& op) {
    in_words<typename T::result> mine;
    const std::size_t builder = p.id().value;
    const bool owns = builder < Rules::builders;
    if (reads_only<T>(op) ? owns ? object_.try_read(p, builder, op, mine) : object_.try_read(p, op, mine)
                          : owns && object_.attempt(p, builder, op, mine))
      return mine.value();
    return object_.apply(p, op);
  }

 private:
  named_object<checker_machine, T, at_runtime, Rules> object_;
};

template <class T, class Rules = named_rules>
using named_operations = operator_of<T, naming<T, Rules>>;

/// As published, but for the names: announced at once, so that few operations lead to the last look.
struct named_announced_rules : named_rules {
  static constexpr bool tries_first = false;
};

/// The most steps inside, and in front of them one look and one failed attempt to enter for each change of W that the
/// others' operations can make: each enters and either makes a version or leaves.
template <class T, class Rules>
constexpr int named_steps_bound(int K, int operations_of_others) {
  const auto kept = static_cast<int>(in_words<T>::size) + 2;
  const int names_come_and_go = 2 * 2 * (K - 1);
  const int attempts = Rules::tries_first ? 3 : 2;
  return own_steps_bound<T, Rules>(K) + attempts * (2 * kept + 3 + names_come_and_go) + 1 +
         2 * (1 + 2 * operations_of_others);
}

template <class T, class Rules>
using building_operations = operator_of<T, building<T, Rules>>;

/// Somewhat more steps than inside: one attempt, or one look.
template <class T, class Rules>
operations_result expect_building(int N, int k, int each) {
  const operations_result r = explored<T, building_operations<T, Rules>>(N, k, each);
  EXPECT_TRUE(r.complete) << r.states;
  EXPECT_TRUE(r.linearizable) << r.why;
  EXPECT_LE(r.own_steps_max, (2 * named_steps_bound<T, Rules>(k, (N - 1) * each)));
  testing::Test::RecordProperty("states", static_cast<int>(r.states));
  return r;
}

template <class T, class Rules = named_rules>
operations_result expect_named(int N, int k, int each) {
  const operations_result r = explored<T, named_operations<T, Rules>>(N, k, each);
  EXPECT_TRUE(r.complete) << r.states;
  EXPECT_TRUE(r.linearizable) << r.why;
  EXPECT_EQ(r.waited, N > k);
  EXPECT_LE(r.own_steps_max, (named_steps_bound<T, Rules>(k, (N - 1) * each)));
  testing::Test::RecordProperty("states", static_cast<int>(r.states));
  return r;
}

}  // namespace kgate::lab
