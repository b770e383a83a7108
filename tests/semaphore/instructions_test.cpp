// SPDX-License-Identifier: Apache-2.0
// How many instructions a thread alone needs for an acquire and a release, counted by stepping through them.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdio>

#include "gate/faults/traced_process.hpp"
#include "kgate/semaphore.hpp"
#include "kgate/slots.hpp"

namespace {

using kgate::faults::mark;
using kgate::faults::traced_process;

template <class Pass>
std::size_t steps_of(int passages, Pass pass) {
  traced_process counted([&] {
    for (int i = 0; i < 3; ++i) pass();
    mark();
    for (int i = 0; i < passages; ++i) pass();
    mark();
  });
  EXPECT_TRUE(counted.run_to_mark());
  counted.share_core();
  std::size_t steps = 0;
  while (counted.step() == traced_process::step_result::stepped) ++steps;
  return steps;
}
/// With those of the loop.
template <class Pass>
double instructions_of(const char* what, Pass pass) {
  constexpr int passages = 20;
  const double each =
      static_cast<double>(steps_of(2 * passages, pass) - steps_of(passages, pass)) / static_cast<double>(passages);
  std::printf("%-24s %.1f instructions\n", what, each);
  return each;
}

// Static, as what a program shares mostly is: its address costs no instruction.
constinit kgate::semaphore fifo(4);
constinit kgate::basic_semaphore<kgate::bounded_overtaking<>> throughput(4);

TEST(semaphore_instructions, of_a_passage_alone) {
  EXPECT_LE(instructions_of("fifo",
                            [] {
                              fifo.acquire();
                              fifo.release();
                            }),
            13);
  EXPECT_LE(instructions_of("fifo, by a permit", [] { const kgate::permit inside(fifo); }), 13);
  EXPECT_LE(instructions_of("bounded_overtaking",
                            [] {
                              throughput.acquire();
                              throughput.release();
                            }),
            20);
}
TEST(semaphore_instructions, one_access_too_many_is_noticed) {
  EXPECT_GT(instructions_of("fifo, and a look",
                            [] {
                              fifo.acquire();
                              static_cast<void>(fifo.available());
                              fifo.release();
                            }),
            13);
}

}  // namespace
