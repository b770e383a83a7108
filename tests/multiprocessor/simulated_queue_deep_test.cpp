// SPDX-License-Identifier: Apache-2.0
// Thousands of processors.
#include <gtest/gtest.h>

#include "lab/experiments/simulated_queue.hpp"

namespace kgate::lab {
namespace {

TEST(SimulatedQueueDeep, GoesToThousandsOfProcessors) {
  for (const queue_figure figure : {queue_figure::fig10, queue_figure::fig11}) {
    const std::vector<scale_point> points = run_queue_scale(paper_request(figure), {64, 1024});
    ASSERT_EQ(points.size(), 9u);  // Herlihy's object only on the smaller machine
    for (const scale_point& p : points) EXPECT_GT(p.microseconds, 0) << p.id;
  }
}

}  // namespace
}  // namespace kgate::lab
