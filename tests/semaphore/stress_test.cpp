// SPDX-License-Identifier: Apache-2.0
#include "stress.hpp"

#include "delays.hpp"

namespace {

using namespace std::chrono_literals;

TEST(semaphore_stress, fifo_accounts_for_every_permit) { kgate::stress::run<kgate::semaphore>(2s, 9, 1); }
TEST(semaphore_stress, overtaking_accounts_for_every_permit) {
  kgate::stress::run<kgate::basic_semaphore<kgate::bounded_overtaking<20>>>(2s, 9, 2);
}
TEST(semaphore_stress, yielding_accounts_for_every_permit) {
  kgate::stress::run<kgate::basic_semaphore<kgate::fifo, kgate::spin_yield>>(1s, 6, 3);
}

TEST(semaphore_stress, fifo_with_delays_accounts_for_every_permit) {
  kgate::stress::run<kgate::basic_semaphore<kgate::fifo, kgate::stress::delayed>>(1s, 7, 4, 5);
}
TEST(semaphore_stress, overtaking_with_delays_accounts_for_every_permit) {
  kgate::stress::run<kgate::basic_semaphore<kgate::bounded_overtaking<4>, kgate::stress::delayed>>(1s, 7, 5, 5);
}

}  // namespace
