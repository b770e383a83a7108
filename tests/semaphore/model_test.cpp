// SPDX-License-Identifier: Apache-2.0
// The kgate algorithm under all schedules, with at most k-1 crashes at any step. Tickets wrap during every run.
#include <gtest/gtest.h>

#include <ostream>

#include "futex_machine.hpp"
#include "lab_gates.hpp"

namespace kgate::lab {
namespace {

const std::vector<std::string> progress{"k-exclusion", "deadlock-free", "starvation-free"};

struct bounds {
  int N, k, passages;
  friend void PrintTo(const bounds& b, std::ostream* out) {
    *out << "N = " << b.N << ", k = " << b.k << ", " << b.passages << " passages each";
  }
};

class KgateModel : public testing::TestWithParam<bounds> {};

TEST_P(KgateModel, FifoKeepsAllItsPromises) {
  const auto [N, k, passages] = GetParam();
  const auto got = verdicts<fifo_gate>(
      N, k, passages, k - 1,
      {"k-exclusion", "deadlock-free", "starvation-free", "bounded-exit", "fife", "bounded-waiting"});
  EXPECT_EQ(got.overall(), verdict::holds) << text(got);
  for (const property_result& one : got.properties) {
    if (one.name == "bounded-waiting") {
      EXPECT_EQ(one.figures.at(0).second, 0) << "overtaken";
    }
    if (one.name == "bounded-exit") {
      EXPECT_LE(one.figures.at(0).second, 3) << "steps";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Small, KgateModel,
                         testing::Values(bounds{2, 1, 3}, bounds{3, 1, 2}, bounds{3, 2, 2}, bounds{4, 2, 1},
                                         bounds{4, 3, 1}));

TEST(KgateModelVariants, GivingUpLosesNoPermit) {
  for (const bounds b : {bounds{2, 1, 2}, bounds{3, 1, 1}, bounds{3, 2, 1}}) {
    const auto got = verdicts<impatient_gate>(b.N, b.k, b.passages, b.k - 1, progress);
    EXPECT_EQ(got.overall(), verdict::holds) << testing::PrintToString(b) << ": " << text(got);
  }
}

// A second wake-up of the same ticket blocks its waker for ever: in its exit, which then is not bounded, or in its entry, which
// then starves.
TEST(KgateModelVariants, GivingUpWakesNobodyTwice) {
  auto asked = progress;
  asked.push_back("bounded-exit");
  for (const bounds b : {bounds{2, 1, 2}, bounds{3, 1, 1}, bounds{3, 2, 1}}) {
    const auto got = verdicts<watched_impatient_gate<>>(b.N, b.k, b.passages, b.k - 1, asked);
    EXPECT_EQ(got.overall(), verdict::holds) << testing::PrintToString(b) << ": " << text(got);
  }
  // A leaver that wakes twice does no other harm, so it is for waking twice that it is caught.
  const auto unwatched =
      verdicts<basic_impatient_gate<checker_machine, twice_waking_gate<checker_machine>>>(2, 1, 2, 0, asked);
  EXPECT_EQ(unwatched.overall(), verdict::holds) << text(unwatched);
  const auto watched = verdicts<watched_impatient_gate<twice_waking_gate<waking_machine>>>(2, 1, 2, 0, asked);
  EXPECT_EQ(watched.overall(), verdict::violated) << text(watched);
}

TEST(KgateModelVariants, OvertakingIsBounded) {
  for (const bounds b : {bounds{2, 1, 3}, bounds{3, 2, 1}}) {
    auto asked = progress;
    asked.insert(asked.end(), {"bounded-exit", "bounded-waiting"});
    for (const auto& got : {verdicts<overtaking_gate<2>>(b.N, b.k, b.passages, b.k - 1, asked),
                            verdicts<reluctant_gate<2>>(b.N, b.k, b.passages, b.k - 1, asked)}) {
      EXPECT_EQ(got.overall(), verdict::holds) << testing::PrintToString(b) << ": " << text(got);
      EXPECT_LE(got.properties.back().figures.at(0).second, 2 + b.k);
    }
  }
}

TEST(KgateModelVariants, SlotsAreDistinct) {
  auto asked = progress;
  asked.push_back("distinct-names");
  for (const bounds b : {bounds{2, 2, 2}, bounds{3, 2, 1}}) {
    const auto got = verdicts<slots_gate>(b.N, b.k, b.passages, b.k - 1, asked);
    EXPECT_EQ(got.overall(), verdict::holds) << testing::PrintToString(b) << ": " << text(got);
  }
}

// Without the looks at W the grants alone must wake everybody: they do, as long as nobody dies. A leaver that dies between
// leaving and granting leaves the next in line asleep.
TEST(KgateModelVariants, GrantsAloneSufficeUntilALeaverCrashes) {
  const auto without = verdicts<strictly_local_gate>(3, 2, 2, 0, progress);
  EXPECT_EQ(without.overall(), verdict::holds) << text(without);
  const auto with = verdicts<strictly_local_gate>(3, 2, 2, 1, progress);
  EXPECT_EQ(with.overall(), verdict::violated) << text(with);
}

// With the kernel's way to sleep: nobody's wake-up is lost, also where those in line share their places with those who are
// admitted and have not been woken yet.
TEST(KgateModelVariants, NoWakeUpIsLost) {
  const auto enough = verdicts<sleeping_gate<0, 4>>(3, 2, 2, 0, progress);
  EXPECT_EQ(enough.overall(), verdict::holds) << text(enough);
  const auto shared = verdicts<sleeping_gate<0, 2>>(4, 2, 1, 0, progress, {.first_more = 1});
  EXPECT_EQ(shared.overall(), verdict::holds) << text(shared);
  for (const bounds b : {bounds{2, 1, 2}, bounds{3, 1, 1}, bounds{3, 2, 1}}) {
    const auto giving_up =
        verdicts<basic_impatient_gate<futex_machine, sleeping_gate<0, 2>>>(b.N, b.k, b.passages, 0, progress);
    EXPECT_EQ(giving_up.overall(), verdict::holds) << testing::PrintToString(b) << ": " << text(giving_up);
  }
  const auto overtaking = verdicts<sleeping_gate<2, 2>>(3, 1, 1, 0, progress);
  EXPECT_EQ(overtaking.overall(), verdict::holds) << text(overtaking);
  const auto two_inside = verdicts<sleeping_gate<2, 4>>(3, 2, 1, 0, progress);
  EXPECT_EQ(two_inside.overall(), verdict::holds) << text(two_inside);
  // A leaver that does not wake whom it has granted, and one who takes a place where somebody still sleeps.
  const auto unwoken = verdicts<sleeping_gate<0, 4>>(3, 2, 2, 0, progress, {.wrong = "drop:10w"});
  EXPECT_EQ(unwoken.overall(), verdict::violated) << text(unwoken);
  const auto unseen = verdicts<hasty_gate<2>>(4, 2, 1, 0, progress, {.first_more = 1});
  EXPECT_EQ(unseen.overall(), verdict::violated) << text(unseen);
}

TEST(KgateRmr, TwoAloneAndEveryLookHasItsPrice) {
  const auto alone = worst_cc<fifo_gate>(1, 1, 2);
  EXPECT_TRUE(alone.complete && !alone.unbounded);
  EXPECT_EQ(alone.worst, 2);
  for (const bounds b : {bounds{2, 1, 2}, bounds{3, 1, 1}, bounds{3, 2, 2}}) {
    const auto local = worst_cc<strictly_local_gate>(b.N, b.k, b.passages);
    const auto looking = worst_cc<fifo_gate>(b.N, b.k, b.passages);
    EXPECT_TRUE(local.complete && looking.complete && !local.unbounded && !looking.unbounded);
    EXPECT_LE(looking.worst, local.worst + 2 * (b.N - 1))
        << "a look can cost once for every arrival and departure of another";
    RecordProperty(
        "N" + std::to_string(b.N) + "k" + std::to_string(b.k),
        std::to_string(local.worst) + " without looks, " + std::to_string(looking.worst) + " with all of them");
    std::printf("N=%d k=%d: worst case %d remote references without looks at W, %d with all of them\n", b.N, b.k,
                local.worst, looking.worst);
  }
}

struct mutant {
  const char* wrong;
  const char* why;
};

TEST(KgateMutants, AreCaught) {
  for (const mutant m :
       {mutant{"force:1=0", "everybody draws the same ticket"}, mutant{"drop:8", "a leaver keeps its permit"},
        mutant{"force:5=0", "who has registered believes itself admitted"}}) {
    const auto got = verdicts<fifo_gate>(3, 2, 1, 1, progress, {.wrong = m.wrong});
    EXPECT_EQ(got.overall(), verdict::violated) << m.wrong << ", " << m.why << ": " << text(got);
  }
  for (const mutant m :
       {mutant{"drop:9", "a leaver does not look who is next"}, mutant{"drop:10", "a leaver does not grant"},
        mutant{"defer:4", "a waiter looks at W before it says that it waits"},
        mutant{"force:5=112", "a waiter does not look at W after saying so"}}) {
    const auto got = verdicts<strictly_local_gate>(3, 1, 2, 0, progress, {.wrong = m.wrong});
    EXPECT_EQ(got.overall(), verdict::violated) << m.wrong << ", " << m.why << ": " << text(got);
  }
  for (const mutant m : {mutant{"drop:18", "who gives up does not look whether it was admitted meanwhile"},
                         mutant{"drop:11", "an abandoned place is not passed on"},
                         mutant{"force:10=1", "two pass on the same abandoned place"},
                         mutant{"force:21=1", "who gave up takes back a permit that was passed on"}}) {
    const auto got = verdicts<impatient_gate>(3, 1, 1, 0, progress, {.wrong = m.wrong});
    EXPECT_EQ(got.overall(), verdict::violated) << m.wrong << ", " << m.why << ": " << text(got);
  }
}

}  // namespace
}  // namespace kgate::lab
