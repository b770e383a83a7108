// SPDX-License-Identifier: Apache-2.0
// Counterexamples, schedules and mutations as they are written and read.

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "checker/checked_programs.hpp"

namespace kgate::lab {
namespace {

TEST(Traces, AChangedScheduleNoLongerShowsTheViolation) {
  auto p = toy<toys::lock_bit>(2, 1);
  const check_result r = check_all(*p, 0);
  ASSERT_EQ(verdict_of(r, "starvation-free", *p), verdict::violated);
  trace t = *r.properties[2].counterexample;
  trace shorter = t;
  shorter.schedule.pop_back();
  EXPECT_NE(validate(shorter, *p), "");
  trace crashed = t;
  crashed.crashed = {0, 1};
  EXPECT_NE(validate(crashed, *p), "");
  trace other = t;
  other.property = "k-exclusion";
  other.loop = -1;
  EXPECT_NE(validate(other, *p), "");
}

TEST(Traces, SchedulesAreReadAsTheyAreWritten) {
  const std::vector<int> schedule{0, 1, 1, 1, 2, 0, 0};
  EXPECT_EQ(schedule_text(schedule), "0,1x3,2,0x2");
  EXPECT_EQ(parse_schedule("0,1x3,2,0x2"), schedule);
  EXPECT_EQ(parse_schedule(""), std::vector<int>{});
  for (const char* bad : {",", "1,", "x2", "1x", "a", "1;2", "1x99999999999", "-1"})
    EXPECT_THROW(parse_schedule(bad), std::invalid_argument) << bad;
}

TEST(Mutations, AreReadAsTheyAreWritten) {
  for (const char* text : {"drop:8", "defer:7", "force:4=-1"}) EXPECT_EQ(mutation::parse(text).text(), text);
  for (const char* bad : {"", "drop", "drop:", "force:4", "force:=1", "force:4=", "force:4=x", "swap:1"})
    EXPECT_THROW(mutation::parse(bad), std::invalid_argument) << bad;
}

}  // namespace
}  // namespace kgate::lab
