// SPDX-License-Identifier: Apache-2.0
// Verdicts, lengths and bounds that can be derived by hand.

#include <gtest/gtest.h>

#include "checker/waiting_queues.hpp"

namespace kgate::lab {
namespace {

using namespace waiting_queues;

template <class Algorithm>
void expect_verdict(size of, const std::string& property, verdict expected) {
  program p = make<Algorithm>(of);
  const property_result r = judge(p, property);
  EXPECT_EQ(to_string(r.is), std::string(to_string(expected)))
      << property << " N=" << of.N << " k=" << of.k << " " << r.why;
  ASSERT_EQ(r.counterexample.has_value(), expected == verdict::violated);
  if (r.counterexample) {
    EXPECT_EQ(validate(*r.counterexample, p), "") << describe(*r.counterexample, p);
  }
}

template <class Algorithm>
long bound(size of) {
  program p = make<Algorithm>(of);
  const property_result r = judge(p, "bounded-waiting");
  EXPECT_EQ(r.is, verdict::holds) << r.why;
  EXPECT_EQ(r.figures.size(), 1U);
  return r.figures.empty() ? -1 : r.figures[0].second;
}

TEST(fairness, a_queue_is_first_in_first_enabled) {
  for (const size of : {size{2, 1}, size{3, 1}, size{3, 2}, size{4, 2}}) {
    expect_verdict<fifo>(of, "fife", verdict::holds);
    expect_verdict<fifo>(of, "enabled-in-order", verdict::holds);
    expect_verdict<fifo>(of, "k-fcfs", verdict::holds);
    EXPECT_EQ(bound<fifo>(of), 0);
  }
}

TEST(fairness, a_semaphore_keeps_no_order) {
  for (const size of : {size{2, 1}, size{3, 1}, size{3, 2}}) {
    expect_verdict<semaphore>(of, "fife", verdict::violated);
    expect_verdict<semaphore>(of, "k-fcfs", of.N > of.k ? verdict::violated : verdict::holds);
    expect_verdict<semaphore>(of, "bounded-waiting", verdict::violated);
  }
}

TEST(fairness, whoever_can_always_enter_is_overtaken_without_harm) {
  expect_verdict<semaphore>({2, 2}, "fife", verdict::holds);
  EXPECT_EQ(bound<semaphore>({2, 2}), 0);
}

// One of the first two queued may go in: at most one overtakes the first at a time, which is 2-FCFS; but the first,
// overtaken, has to wait until one leaves, and may be overtaken again then.
TEST(fairness, k_fcfs_does_not_give_fife) {
  expect_verdict<any_of_two>({4, 2}, "k-fcfs", verdict::holds);
  expect_verdict<any_of_two>({4, 2}, "fife", verdict::violated);
  expect_verdict<any_of_two>({4, 2}, "bounded-waiting", verdict::violated);
  expect_verdict<any>({4, 2}, "k-fcfs", verdict::violated);
}

// One that draws permits is never enabled before it is inside: none is enabled out of order, however many are
// overtaken. The other way round, danek10-fife keeps fife and not enabled-in-order
// (tests/algorithms/danek10/model_test.cpp).
TEST(fairness, enabled_in_order_does_not_give_fife) {
  expect_verdict<semaphore>({3, 1}, "enabled-in-order", verdict::holds);
  expect_verdict<semaphore>({3, 1}, "fife", verdict::violated);
}

TEST(fairness, the_bound_on_waiting_is_exact) {
  EXPECT_EQ(bound<at_most<1>>({2, 1}), 1);
  EXPECT_EQ(bound<at_most<2>>({2, 1}), 2);
  EXPECT_EQ(bound<at_most<3>>({2, 1}), 3);
  expect_verdict<at_most<1>>({2, 1}, "fife", verdict::violated);
}

TEST(fairness, a_bound_that_the_passages_set_decides_nothing) {
  program p = make<at_most<3>>({2, 1, 2});
  const property_result r = judge(p, "bounded-waiting");
  EXPECT_EQ(r.is, verdict::undecided);
  EXPECT_NE(r.why.find("2 passages"), std::string::npos) << r.why;
}

// Alone, and whenever the others come to rest, every process gets in: only runs in which others never cease to pass
// keep one out.
TEST(fairness, being_kept_out_may_take_others_that_never_stop) {
  expect_verdict<colour>({2, 2}, "fife", verdict::violated);
  expect_verdict<colour>({2, 2}, "bounded-waiting", verdict::violated);
  expect_verdict<colour>({2, 2, 2}, "fife", verdict::holds);
}

TEST(fairness, no_order_without_a_doorway) {
  program p = make<unmarked_semaphore>({2, 1});
  for (const char* property : {"fife", "enabled-in-order", "k-fcfs"}) {
    const property_result r = judge(p, property);
    EXPECT_EQ(r.is, verdict::undecided);
    EXPECT_NE(r.why.find("doorway"), std::string::npos) << r.why;
  }
  expect_verdict<unmarked_semaphore>({2, 1}, "bounded-waiting", verdict::violated);
}

TEST(fairness, nothing_is_decided_with_symmetry) {
  program p = make<fifo>({3, 1});
  check_request request;
  request.of = {"hand-made", 3, 1, 0, {}};
  request.properties = {"fife", "enabled-in-order", "k-fcfs", "bounded-waiting"};
  request.symmetry = true;
  for (const property_result& r : check(p, request).properties) EXPECT_EQ(r.is, verdict::undecided);
  for (const std::string& name : request.properties) EXPECT_FALSE(find_property(name)->by_symmetry);
}

// p0 knocks, p1 knocks and takes the only permit; p0 looks in vain for ever.
TEST(fairness, the_counterexample_is_a_shortest_one) {
  program p = make<semaphore>({2, 1});
  const trace t = judge(p, "fife").counterexample.value();
  const int late = 1 - t.victim;
  EXPECT_EQ(t.schedule, (std::vector<int>{t.victim, late, late, late}));
  EXPECT_EQ(t.loop, 4);
  EXPECT_NE(describe(t, p).find("is inside; past their doorway before it started, and still there: " +
                                std::to_string(t.victim)),
            std::string::npos)
      << describe(t, p);
}

TEST(fairness, wrong_traces_are_refused) {
  program p = make<semaphore>({2, 1});
  trace t;
  t.of = {"hand-made", 2, 1, 0, {}};
  t.property = "fife";
  t.victim = 0;
  const auto refused = [&](std::vector<int> schedule, int loop, int victim) {
    trace wrong = t;
    wrong.schedule = std::move(schedule);
    wrong.loop = loop;
    wrong.victim = victim;
    return !validate(wrong, p).empty();
  };
  EXPECT_FALSE(refused({0, 1, 1, 1}, -1, 0));
  EXPECT_TRUE(refused({0, 1, 1, 1}, -1, 1)) << "it is the other that was overtaken";
  EXPECT_TRUE(refused({0, 1, 1, 1}, -1, -1)) << "no victim";
  EXPECT_TRUE(refused({1, 0, 1, 1}, -1, 0)) << "p1 started first";
  EXPECT_TRUE(refused({0, 1, 1}, -1, 0)) << "nobody is inside";
  EXPECT_TRUE(refused({0, 1, 1, 1, 1}, -1, 0)) << "p1 has left and p0 is not blocked";
  EXPECT_TRUE(refused({0, 1, 1, 1, 0}, -1, 0)) << "a blocked process cannot step";
  EXPECT_TRUE(refused({0, 1, 1, 1, 1, 0, 0}, -1, 0)) << "p0 got in";
  EXPECT_TRUE(refused({0, 1, 1, 1, 1, 1, 1, 1}, 4, 0)) << "p0 takes no step in the loop";
  t.property = "enabled-in-order";
  EXPECT_TRUE(refused({0, 1, 1, 1}, -1, 0)) << "p1 got inside without having been enabled";
  EXPECT_TRUE(refused({0, 1, 1, 1}, -1, -1)) << "no victim";
  t.property = "k-fcfs";
  EXPECT_FALSE(refused({0, 1, 1, 1}, -1, -1));
  EXPECT_TRUE(refused({1, 0, 1, 1}, -1, -1)) << "p1 started first";
  EXPECT_TRUE(refused({0, 1, 1, 1, 1}, -1, -1)) << "the last step does not enter";
  t.property = "bounded-waiting";
  EXPECT_FALSE(refused({0, 1, 1, 1, 1}, 1, 0));
  EXPECT_TRUE(refused({0, 1, 1, 1, 1}, -1, 0)) << "a finite run";
  EXPECT_TRUE(refused({0, 1, 1, 1}, 1, 0)) << "not closed";
  EXPECT_TRUE(refused({0, 1, 1, 1, 1}, 1, 1)) << "p1 does not stay in its entry";
  program roomy = make<semaphore>({2, 2});
  trace enabled = t;
  enabled.of.k = 2;
  enabled.schedule = {0, 1, 1, 1, 1};
  enabled.loop = 1;
  EXPECT_NE(validate(enabled, roomy), "") << "with room for both, p0 is enabled all along";
}

}  // namespace
}  // namespace kgate::lab
