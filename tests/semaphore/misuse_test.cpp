// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <stdexcept>
#include <thread>

#include "kgate/semaphore.hpp"

namespace {

using namespace std::chrono_literals;

template <class S>
class semaphore_misuse : public testing::Test {};
using kinds = testing::Types<kgate::semaphore, kgate::basic_semaphore<kgate::bounded_overtaking<8>>>;
TYPED_TEST_SUITE(semaphore_misuse, kinds);

TYPED_TEST(semaphore_misuse, k_out_of_range_is_refused) {
  EXPECT_THROW(TypeParam(0), std::invalid_argument);
  EXPECT_THROW(TypeParam(-1), std::invalid_argument);
  EXPECT_THROW(TypeParam(TypeParam::max() + 1), std::invalid_argument);
  TypeParam s(TypeParam::max());
  EXPECT_EQ(s.available(), TypeParam::max());
  EXPECT_THROW(s.resize(0), std::invalid_argument);
  EXPECT_EQ(s.permits(), TypeParam::max());
}

TYPED_TEST(semaphore_misuse, release_without_acquire_stops_the_program) {
  TypeParam s(2);
  EXPECT_DEATH(s.release(), "permit that nobody holds");
  s.acquire();
  EXPECT_DEATH(s.release(2), "permit that nobody holds");
  EXPECT_DEATH(s.release(4), "permit that nobody holds");
  EXPECT_DEATH(s.release(-1), "fewer than no permits");
  s.release(0);
  EXPECT_EQ(s.available(), 1);
  s.release();
}

TYPED_TEST(semaphore_misuse, asking_for_less_than_one_or_more_than_max_stops_the_program) {
  TypeParam s(2);
  EXPECT_DEATH(s.acquire(0), "fewer than one permit");
  EXPECT_DEATH(s.acquire(TypeParam::max() + 1), "more than there can be");
  EXPECT_DEATH((void)s.try_acquire_for(1ms, 0), "fewer than one permit");
}
// Not an error of the caller, which cannot know k when another may resize.
TYPED_TEST(semaphore_misuse, asking_for_more_than_k_is_refused) {
  TypeParam s(2);
  EXPECT_THROW(s.acquire(3), kgate::refused);
  EXPECT_FALSE(s.try_acquire(3));
  EXPECT_FALSE(s.try_acquire_for(1h, 3));
  EXPECT_EQ(s.available(), 2);
}

TYPED_TEST(semaphore_misuse, destroying_it_under_a_waiter_stops_the_program) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(
      {
        auto s = std::make_unique<TypeParam>(1);
        s->acquire();
        std::thread waiter([&] { s->acquire(); });
        while (s->waiters() == 0) std::this_thread::sleep_for(1ms);
        s.reset();
        waiter.join();
      },
      "destroyed while somebody waits");
}

TYPED_TEST(semaphore_misuse, destroying_it_after_a_wait_was_given_up_is_fine) {
  TypeParam s(1);
  s.acquire();
  std::jthread a([&] { EXPECT_FALSE(s.try_acquire_for(20ms)); });
  std::jthread b([&] { EXPECT_FALSE(s.try_acquire_for(40ms)); });
  a.join();
  b.join();
}

}  // namespace
