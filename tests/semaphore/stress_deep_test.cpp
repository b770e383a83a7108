// SPDX-License-Identifier: Apache-2.0
#include "stress.hpp"

namespace {

using namespace std::chrono_literals;

TEST(semaphore_stress_deep, fifo_accounts_for_every_permit) { kgate::stress::run<kgate::semaphore>(60s, 24, 11); }
TEST(semaphore_stress_deep, overtaking_accounts_for_every_permit) {
  kgate::stress::run<kgate::basic_semaphore<kgate::bounded_overtaking<20>>>(60s, 24, 12);
}
TEST(semaphore_stress_deep, parking_accounts_for_every_permit) {
  kgate::stress::run<kgate::basic_semaphore<kgate::fifo, kgate::spin_park>>(60s, 24, 13);
}

}  // namespace
