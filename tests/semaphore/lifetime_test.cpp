// SPDX-License-Identifier: Apache-2.0
// A semaphore may go as soon as its last acquire has returned: nothing of it is touched by the release that is still on
// its way. The sanitizers see what is; elsewhere memory is overwritten, so that a stray access does harm.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <new>
#include <thread>

#include "delays.hpp"
#include "kgate/semaphore.hpp"

namespace {

using namespace std::chrono_literals;
using kgate::stress::delayed;

template <class S>
class semaphore_lifetime : public testing::Test {};
using kinds = testing::Types<kgate::semaphore, kgate::basic_semaphore<kgate::bounded_overtaking<8>>,
                             kgate::basic_semaphore<kgate::fifo, delayed>,
                             kgate::basic_semaphore<kgate::bounded_overtaking<4>, delayed>,
                             kgate::basic_semaphore<kgate::fifo, delayed, kgate::statistics>>;
TYPED_TEST_SUITE(semaphore_lifetime, kinds);

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int rounds = 100'000;
#else
constexpr int rounds = 20'000;
#endif

/// Two threads that meet again and again at fresh semaphores. `use(s, number)` returns whether that thread is the one
/// to destroy s.
template <class S, class Use>
void meet(int k, Use use) {
  std::atomic<S*> current{nullptr};
  std::atomic<int> round{0};
  const auto side = [&](int number) {
    for (int i = 1; i <= rounds; ++i) {
      if (number == 0) {
        S* fresh = new S(k);
        fresh->acquire(k);
        current.store(fresh);
        round.store(i);
      } else {
        while (round.load() < i) std::this_thread::yield();
      }
      S* const s = current.load();
      if (use(*s, number)) delete s;
      if (number == 0)
        while (current.load() != nullptr) std::this_thread::yield();
      else
        current.store(nullptr);
    }
  };
  std::thread other(side, 1);
  side(0);
  other.join();
}

TYPED_TEST(semaphore_lifetime, ends_right_after_the_acquire_that_a_release_granted) {
  meet<TypeParam>(1, [](TypeParam& s, int number) {
    if (number == 0) s.release();
    if (number == 1) s.acquire();
    return number == 1;
  });
}
TYPED_TEST(semaphore_lifetime, ends_right_after_a_timed_acquire) {
  meet<TypeParam>(1, [](TypeParam& s, int number) {
    if (number == 0) s.release();
    if (number == 1)
      while (!s.try_acquire_for(20us)) {
      }
    return number == 1;
  });
}
// With others inside a release has more to do than to hand back.
TYPED_TEST(semaphore_lifetime, ends_right_after_permits_are_taken_one_by_one) {
  meet<TypeParam>(2, [](TypeParam& s, int number) {
    if (number == 0) {
      s.release();
      s.release();
    } else {
      s.acquire();
      s.acquire();
    }
    return number == 1;
  });
}

// Another semaphore is made at the address of one that is gone, while a release of that one is still on its way.
TYPED_TEST(semaphore_lifetime, of_one_at_the_address_of_another) {
  alignas(TypeParam) static std::byte storage[sizeof(TypeParam)];
  auto* s = new (storage) TypeParam(1);
  std::atomic<int> inside{0};
  std::atomic<bool> two{false};
  s->acquire();
  for (int i = 0; i < rounds / 100; ++i) {
    std::jthread next([&] {
      s->acquire();
      if (++inside > 1) two = true;
      s->~TypeParam();
      std::memset(storage, 0xa5, sizeof storage);
      s = new (storage) TypeParam(1);
      s->acquire();
      --inside;
    });
    if (i % 2 == 0) std::this_thread::yield();
    s->release();
    next.join();
  }
  EXPECT_FALSE(two);
  s->~TypeParam();
}

TEST(semaphore_destruction, after_shrinking_with_all_permits_out_is_fine) {
  kgate::semaphore s(4);
  for (int i = 0; i < 4; ++i) s.acquire();
  s.resize(2);
  EXPECT_EQ(s.holders(), 4);
}

}  // namespace
