// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "kgate/algorithms/am97_figure9.hpp"
#include "kgate/algorithms/am97_queue.hpp"
#include "kgate/detail/cache_line.hpp"
#include "kgate/detail/fixed_array.hpp"
#include "kgate/detail/machines/native.hpp"

namespace {

using kgate::fixed_array;
using kgate::pid;

/// Neither copyable nor movable, and counts those alive.
struct counted {
  counted(int number, int& count) : value(number), alive(count) { ++alive; }
  counted(const counted&) = delete;
  ~counted() { --alive; }
  int value;
  int& alive;
};

TEST(fixed_array, makes_elements_in_place_and_destroys_them) {
  int alive = 0;
  {
    fixed_array<counted> array(5, [&](std::size_t i) { return counted(static_cast<int>(10 * i), alive); });
    EXPECT_EQ(alive, 5);
    EXPECT_EQ(array.size(), 5U);
    EXPECT_EQ(array[3].value, 30);
    EXPECT_EQ(array[pid(4)].value, 40);
    int sum = 0;
    for (const counted& one : array) sum += one.value;
    EXPECT_EQ(sum, 100);
  }
  EXPECT_EQ(alive, 0);
}

TEST(fixed_array, may_be_empty) {
  int alive = 0;
  fixed_array<counted> array(0, [&](std::size_t) { return counted(0, alive); });
  EXPECT_EQ(array.size(), 0U);
  EXPECT_EQ(array.begin(), array.end());
}

TEST(fixed_array, destroys_what_was_made_when_making_throws) {
  int alive = 0;
  const auto make = [&](std::size_t i) {
    if (i == 3) throw std::runtime_error("the fourth cannot be made");
    return counted(0, alive);
  };
  EXPECT_THROW(fixed_array<counted>(5, make), std::runtime_error);
  EXPECT_EQ(alive, 0);
}

TEST(fixed_array, gives_each_shared_variable_its_own_cache_line) {
  using machine = kgate::native<kgate::spin_park>;
  machine::Memory memory;
  fixed_array<machine::Var<bool>> array(3, [&](std::size_t) { return machine::Var<bool>(memory, {}, false); });
  for (std::size_t i = 0; i < array.size(); ++i)
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&array[i]) % kgate::detail::cache_line, 0U);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&array[1]) - reinterpret_cast<std::uintptr_t>(&array[0]),
            kgate::detail::cache_line);
}

TEST(spin_word, is_a_flag_and_an_instance) {
  using kgate::am97::spin_word;
  EXPECT_TRUE(spin_word(true, 7).flag());
  EXPECT_FALSE(spin_word(false, 7).flag());
  EXPECT_EQ(spin_word(false, 65534).instance(), 65534);
  EXPECT_EQ(spin_word(true, 7), spin_word(true, 7));
  EXPECT_NE(spin_word(true, 7), spin_word(false, 7));
  EXPECT_NE(spin_word(true, 7), spin_word(true, 8));
  EXPECT_EQ(to_string(spin_word(false, 3)), "(false,3)");
  EXPECT_TRUE(std::has_unique_object_representations_v<spin_word>);
}

TEST(counter_and_queue, is_a_queue_beside_a_signed_counter) {
  kgate::am97::counter_and_queue value(2);
  EXPECT_EQ(value.X(), 2);
  EXPECT_EQ(value.length(), 0);
  value.dequeue();
  EXPECT_EQ(value.length(), 0) << "leaving an empty queue alone";
  for (int i = 12; i >= 0; --i) value.enqueue(pid(i));
  value.add(-15);
  EXPECT_EQ(value.X(), -13);
  EXPECT_EQ(value.length(), 13);
  for (int i = 12; i >= 0; --i) {
    EXPECT_EQ(value.at(0), pid(i));
    EXPECT_TRUE(value.contains(pid(i)));
    value.dequeue();
    EXPECT_FALSE(value.contains(pid(i)));
    EXPECT_EQ(value.X(), -13);
  }
  value.add(15);
  EXPECT_EQ(value, kgate::am97::counter_and_queue(2)) << "equal contents are equal words";
  value.enqueue(pid(3));
  value.enqueue(pid(0));
  EXPECT_EQ(to_string(value), "X=2 Q=[p3 p0]");
  EXPECT_TRUE(std::has_unique_object_representations_v<kgate::am97::counter_and_queue>);
}

}  // namespace
