// SPDX-License-Identifier: Apache-2.0
// Ten thousand blocked threads on one semaphore use no processor time, and each is woken.
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "kgate/semaphore.hpp"

namespace {

using namespace std::chrono_literals;

double processor_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

struct crowd {
  kgate::semaphore s{1};
  std::atomic<int> passed{0};
};

TEST(semaphore_crowd_deep, ten_thousand_threads_wait_without_processor_time) {
  constexpr int threads = 10'000;
  crowd all;
  all.s.acquire();
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 64 << 10);
  std::vector<pthread_t> waiting;
  for (int i = 0; i < threads; ++i) {
    pthread_t one{};
    const auto pass = [](void* of) -> void* {
      crowd& mine = *static_cast<crowd*>(of);
      mine.s.acquire();
      mine.passed.fetch_add(1);
      mine.s.release();
      return nullptr;
    };
    ASSERT_EQ(pthread_create(&one, &small, pass, &all), 0) << "after " << i;
    waiting.push_back(one);
  }
  pthread_attr_destroy(&small);
  while (all.s.waiters() < threads) std::this_thread::sleep_for(1ms);
  const double before = processor_seconds();
  std::this_thread::sleep_for(2s);
  EXPECT_LT(processor_seconds() - before, 0.01);
  all.s.release();
  for (const pthread_t one : waiting) pthread_join(one, nullptr);
  EXPECT_EQ(all.passed, threads);
}

}  // namespace
