// SPDX-License-Identifier: Apache-2.0
/// What an object may be made of, and what becomes of odd operations, keys and durations.

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string_view>
#include <thread>
#include <vector>

#include "kgate/resilient.hpp"

namespace kgate {
namespace {

using namespace std::chrono_literals;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

template <class Operation, class Result = int, class Member = int>
struct made_of {
  using operation = Operation;
  using result = Result;
  result apply(const operation&) noexcept { return {}; }
  Member member{};
};

struct view_inside {
  int number;
  std::string_view text;
};
struct view_deep_inside {
  int number;
  view_inside more;
};
struct views_in_array {
  std::string_view text[2];
};
struct derived_view : view_inside {
  int more;
};
struct fine {
  long number;
  char text[40];
  struct {
    double a, b;
  } pairs[3];
};

static_assert(Sequential<made_of<fine, fine, fine>>);
static_assert(!Sequential<made_of<std::string_view>>);
static_assert(!Sequential<made_of<view_inside>>);
static_assert(!Sequential<made_of<view_deep_inside>>);
static_assert(!Sequential<made_of<views_in_array>>);
static_assert(!Sequential<made_of<derived_view>>);
static_assert(!Sequential<made_of<std::span<int>>>);
static_assert(!Sequential<made_of<const char*>>);
static_assert(!Sequential<made_of<int, view_inside>>);
static_assert(!Sequential<made_of<int, int, view_inside>>);
static_assert(Sequential<counter> && Sequential<small_map<>> && Sequential<fifo_queue<>> &&
              Sequential<priority_queue<>>);

/// So many words, which must always be alike.
template <std::size_t Words, std::size_t Alignment = 8>
struct alignas(Alignment) words {
  struct operation {
    std::uint64_t add;
  };
  using result = std::uint64_t;
  result apply(const operation& op) noexcept {
    const std::uint64_t was = all[0];
    for (std::uint64_t& one : all) one = one == was ? was + op.add : ~std::uint64_t{0};
    return reinterpret_cast<std::uintptr_t>(this) % Alignment == 0 ? was : ~std::uint64_t{0};
  }
  std::uint64_t all[Words]{};
};

static_assert(requires { typename resilient<words<state_bytes_max / 8>, 2>; });
template <class T, int K, class Slots>
concept refused = !requires {
  typename resilient<T, K, Slots>;
};
static_assert(refused<words<state_bytes_max / 8 + 1>, 2, any_order>);
static_assert(refused<words<state_bytes_max / 8 + 1>, 1, healing>);
static_assert(!refused<words<state_bytes_max / 8 + 1>, 1, any_order>);  // behind a lock nothing is copied

/// That these compile without a warning is part of the test.
template <class T, int K, class Slots = any_order>
void counts() {
  const auto object = std::make_unique<resilient<T, K, Slots>>();
  {
    std::vector<std::jthread> all;
    for (int t = 0; t < 3; ++t)
      all.emplace_back([&] {
        for (int i = 0; i < 300; ++i) object->apply({1});
      });
  }
  EXPECT_EQ(object->apply({0}), 900U);
  EXPECT_EQ(object->try_apply({0}), 900U);
}

TEST(States, OfAnySizeAreCopiedWhole) {
  counts<words<5>, 4>();
  counts<words<12>, 4>();
  counts<words<16>, 2>();
  counts<words<31>, 4, word_slots>();
  counts<words<64>, 20>();
  counts<words<12>, 40>();
  counts<words<12>, 3, healing>();
  counts<words<12>, 3, slots>();
  counts<words<12>, 1>();
  counts<words<state_bytes_max / 8>, 4>();
  counts<words<(std::size_t{1} << 20)>, 1>();
}

TEST(States, KeepTheirAlignment) {
  counts<words<16, 128>, 4>();
  counts<words<64, 512>, 40>();
  counts<words<16, 128>, 1>();
  counts<words<16, 128>, 2, healing>();
  counts<words<16, 128>, 2, slots>();
}

TEST(SmallMap, TakesWhatIsNoNumberForAKey) {
  using map = small_map<double, int, 4>;
  map m;
  EXPECT_FALSE(m.apply(map::put(1.0, 10)));
  EXPECT_FALSE(m.apply(map::put(nan, 20)));
  EXPECT_FALSE(m.apply(map::put(2.0, 30)));
  EXPECT_EQ(m.size(), 3U);
  EXPECT_EQ(m.apply(map::find(1.0)).value, 10);
  EXPECT_EQ(m.apply(map::find(nan)).value, 20);
  EXPECT_EQ(m.apply(map::put(-nan, 21)).value, 20);
  EXPECT_EQ(m.apply(map::erase(nan)).value, 21);
  EXPECT_FALSE(m.apply(map::find(nan)));
  EXPECT_EQ(m.apply(map::find(2.0)).value, 30);
}

TEST(PriorityQueue, GivesWhatIsNoNumberLast) {
  using heap = priority_queue<double, 8>;
  heap h;
  for (const double value : {3.0, nan, 1.0, nan, 2.0}) EXPECT_TRUE(h.apply(heap::insert(value)));
  for (const double expected : {1.0, 2.0, 3.0}) EXPECT_EQ(h.apply(heap::delete_min()).value, expected);
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(std::isnan(h.apply(heap::delete_min()).value));
  EXPECT_FALSE(h.apply(heap::delete_min()));
}

/// Those that wait for a slot that is not given back.
template <class Duration>
void gives_up_at_once(Duration timeout) {
  word_slots one(1);
  EXPECT_EQ(one.acquire(), 0);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_FALSE(one.try_acquire_for(timeout));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
}

TEST(Durations, ThatAreNoneAreOver) {
  gives_up_at_once(std::chrono::duration<double>(nan));
  gives_up_at_once(std::chrono::duration<float, std::nano>(-std::numeric_limits<float>::infinity()));
  gives_up_at_once(std::chrono::nanoseconds::min());
  gives_up_at_once(std::chrono::hours::min());
  gives_up_at_once(-1s);
}

TEST(Durations, ThatAreLongAreWaitedFor) {
  for (const auto timeout : {std::chrono::duration<double>(std::numeric_limits<double>::infinity()),
                             std::chrono::duration<double>(std::chrono::hours::max())}) {
    word_slots one(1);
    EXPECT_EQ(one.acquire(), 0);
    std::jthread later([&] {
      std::this_thread::sleep_for(30ms);
      one.release(0);
    });
    EXPECT_TRUE(one.try_acquire_for(timeout));
  }
}

/// An operation that uses the object it belongs to.
template <int K, class Slots>
struct nested {
  struct operation {
    int depth;
  };
  using result = int;
  result apply(const operation& op) noexcept;
  int nothing = 0;
};
template <int K, class Slots>
resilient<nested<K, Slots>, K, Slots>& nesting() {
  static resilient<nested<K, Slots>, K, Slots> one;
  return one;
}
template <int K, class Slots>
int nested<K, Slots>::apply(const operation& op) noexcept {
  return op.depth == 0 ? 0 : 1 + nesting<K, Slots>().apply({op.depth - 1});
}

template <int K, class Slots = any_order>
void stops_when_nested() {
  EXPECT_EQ((nesting<K, Slots>().apply({0})), 0);
  EXPECT_DEATH((nesting<K, Slots>().apply({1})),
               "apply was called while this thread is in apply of the same object: by its operation, or by a signal");
}

TEST(NestedApply, StopsTheProgramAndDoesNotHang) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  stops_when_nested<1>();
  stops_when_nested<4>();
  stops_when_nested<40>();
  stops_when_nested<4, word_slots>();
  stops_when_nested<4, slots>();
  stops_when_nested<4, healing>();
}

/// Of another object it may use.
struct outer {
  struct operation {};
  using result = std::int64_t;
  static resilient<counter, 2>& other() {
    static resilient<counter, 2> one;
    return one;
  }
  result apply(const operation&) noexcept { return other().apply(counter::read()); }
  int nothing = 0;
};

TEST(NestedApply, OfAnotherObjectIsCarriedOut) {
  outer::other().apply(counter::add(3));
  resilient<outer, 2> object;
  EXPECT_EQ(object.apply({}), 3);
}

}  // namespace
}  // namespace kgate
