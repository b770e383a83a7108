// SPDX-License-Identifier: Apache-2.0
#include "kgate/acquire_event.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <pthread.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "delays.hpp"

namespace kgate {
namespace {

bool readable(int descriptor, int milliseconds = 0) {
  pollfd watched{descriptor, POLLIN, 0};
  return ::poll(&watched, 1, milliseconds) == 1;
}

TEST(AcquireEvent, IsReadableOnceThePermitsAreThere) {
  semaphore s(2);
  s.acquire();
  acquire_event both(s, 2), one(s);
  EXPECT_FALSE(both.ended() || one.ended() || readable(both.descriptor()) || readable(one.descriptor()));
  s.release();
  ASSERT_TRUE(both.ended() && readable(both.descriptor()));
  EXPECT_FALSE(one.ended());
  {
    const permit inside = both.take();
    EXPECT_EQ(inside.count(), 2);
  }
  EXPECT_TRUE(one.ended() && readable(one.descriptor()));
  EXPECT_EQ(s.available(), 1);
}
TEST(AcquireEvent, HandsBackWhatNobodyTook) {
  semaphore s(1);
  {
    const acquire_event free(s), queued(s);
    EXPECT_TRUE(free.ended() && readable(free.descriptor()));
  }
  EXPECT_EQ(s.available(), 1);
  EXPECT_EQ(s.waiters(), 0);
}
TEST(AcquireEvent, CanBeCancelledAndRefused) {
  semaphore s(1);
  s.acquire();
  acquire_event cancelled(s), refused_one(s);
  cancelled.cancel();
  ASSERT_TRUE(cancelled.ended() && readable(cancelled.descriptor()));
  EXPECT_FALSE(cancelled.take());
  s.close();
  ASSERT_TRUE(refused_one.ended());
  EXPECT_THROW(static_cast<void>(refused_one.take()), refused);
  s.release();
}
TEST(AcquireEvent, EndsWhenItsTimeIsOver) {
  using namespace std::chrono_literals;
  semaphore s(1);
  s.acquire();
  acquire_event late(s, 10ms), patient(s, std::chrono::hours(24'000));
  ASSERT_TRUE(readable(late.descriptor(), 20'000));
  EXPECT_FALSE(late.take());
  EXPECT_EQ(s.waiters(), 1);
  s.release();
  ASSERT_TRUE(patient.ended());
  EXPECT_TRUE(patient.take());
}
TEST(AcquireEvent, OfSlots) {
  using namespace std::chrono_literals;
  slots two(2);
  slot_event a(two), b(two), c(two), d(two, 5ms);
  ASSERT_TRUE(a.ended() && b.ended() && !c.ended());
  ASSERT_TRUE(readable(d.descriptor(), 20'000));
  EXPECT_FALSE(d.take());
  const slot first = a.take();
  EXPECT_EQ(first.number(), 0);
  b.take().reset();
  ASSERT_TRUE(readable(c.descriptor()));
  EXPECT_EQ(c.take().number(), 1);
  EXPECT_EQ(two.available(), 1);
}
TEST(AcquireEventDeathTest, PermitsAreTakenOnceAndInTime) {
  semaphore s(1);
  s.acquire();
  acquire_event early(s);
  EXPECT_DEATH(static_cast<void>(early.take()), "before the wait has ended");
  s.release();
  const permit inside = early.take();
  EXPECT_DEATH(static_cast<void>(early.take()), "or twice");
}

TEST(AcquireEvent, IsNoCancellationPointForThoseWhoHandBack) {
  semaphore s(1);
  s.acquire();
  acquire_event granted(s), cancelled(s), closed(s);
  std::thread other([&] {
    pthread_cancel(pthread_self());
    s.release();
    cancelled.cancel();
    { const acquire_event own(s); }
    s.close();
    EXPECT_TRUE(closed.ended());
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
  });
  other.join();
  EXPECT_TRUE(granted.take());
  EXPECT_FALSE(cancelled.take());
}

TEST(AcquireEvent, MayGoWhileItIsGranted) {
  basic_semaphore<fifo, stress::delayed> s(1);
  std::atomic<bool> end{false};
  std::jthread other([&] {
    while (!end) {
      s.acquire();
      s.release();
    }
  });
  for (int i = 0; i < 300; ++i) {
    basic_acquire_event turn(s);
    if (i % 3 == 0) continue;
    if (i % 3 == 1) turn.cancel();
    if (i % 3 == 2) {
      ASSERT_TRUE(readable(turn.descriptor(), 10'000));
      EXPECT_TRUE(turn.take());
    }
  }
  end = true;
  other.join();
  EXPECT_EQ(s.available(), 1);
}

}  // namespace
}  // namespace kgate
