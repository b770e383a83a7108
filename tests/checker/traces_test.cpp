// SPDX-License-Identifier: Apache-2.0
// Counterexamples, schedules and mutations as they are written and read.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
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

/// Of every property: a run that shows one of them shows no other that is not violated, however it is called.
void shows_only_what_is_violated(program& p) {
  check_request request;
  request.of = {"toy", p.N(), p.k(), 0, {}};
  for (const property& one : properties()) request.properties.emplace_back(one.id);
  const check_result r = check(p, request);
  for (const property_result& shown : r.properties) {
    if (!shown.counterexample) continue;
    for (const property_result& other : r.properties)
      for (const int victim : {-1, 0, 1}) {
        trace t = *shown.counterexample;
        t.property = other.name;
        t.victim = victim;
        if (other.is == verdict::violated) continue;
        EXPECT_NE(validate(t, p), "") << shown.name << " as " << other.name << ", victim " << victim;
      }
  }
}

TEST(Traces, ShowNoPropertyThatHolds) {
  shows_only_what_is_violated(*toy<toys::lock_bit>(2, 1));
  shows_only_what_is_violated(*from_catalog("fa-semaphore", 2, 1));
  shows_only_what_is_violated(*from_catalog("mcs", 2, 1));
}

TEST(Traces, EachPropertyIsShownByItsKindOfRun) {
  auto p = toy<toys::lock_bit>(2, 1);
  const trace starved = *check_all(*p, 0).properties[2].counterexample;
  ASSERT_GE(starved.loop, 0);
  for (const property& one : properties()) {
    trace t = starved;
    t.property = one.id;
    if (one.evidence == shown_by::finite) {
      EXPECT_NE(validate(t, *p).find("is judged at the end of a finite run"), std::string::npos) << one.id;
    }
    t.loop = -1;
    if (one.evidence == shown_by::endless) {
      EXPECT_NE(validate(t, *p).find("is judged by what repeats for ever"), std::string::npos) << one.id;
    }
  }
  trace nobody = starved;
  nobody.victim = -1;
  EXPECT_EQ(validate(nobody, *p), "a violation of starvation-free needs a victim");
  trace dead = starved;
  dead.crashed = {starved.victim};
  EXPECT_NE(validate(dead, *p).find(fmt::format("process {} has crashed", starved.victim)), std::string::npos);
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
