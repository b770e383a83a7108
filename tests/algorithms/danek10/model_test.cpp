// SPDX-License-Identifier: Apache-2.0

/// What the k-bakeries promise, over all schedules, at the sizes that take seconds.

#include "algorithms/verdicts.hpp"
#include "lab/checker/model/walker.hpp"

namespace kgate::lab {
namespace {

const std::vector<std::string> with_kfcfs{"k-exclusion", "deadlock-free", "starvation-free", "bounded-exit", "k-fcfs"};
const std::vector<std::string> with_fife{"k-exclusion",  "deadlock-free", "starvation-free",
                                         "bounded-exit", "k-fcfs",        "fife"};

TEST(danek10, bakery_N2k1_three_passages) { holds({"danek10-bakery", 2, 1, 3}, with_fife); }
TEST(danek10, bakery_N3k1_one_passage) { holds({"danek10-bakery", 3, 1, 1}, with_fife); }
TEST(danek10, bakery_on_safe_registers_N2k1_two_passages) { holds({"danek10-bakery", 2, 1, 2, true}, with_fife); }
TEST(danek10, kfcfs_N2k1_three_passages) { holds({"danek10-kfcfs", 2, 1, 3}, with_kfcfs); }
TEST(danek10, kfcfs_N3k2_two_passages) { holds({"danek10-kfcfs", 3, 2, 2}, with_kfcfs); }
TEST(danek10, fife_N2k1_three_passages) { holds({"danek10-fife", 2, 1, 3}, with_fife); }
TEST(danek10, fife_N3k2_one_passage) { holds({"danek10-fife", 3, 2, 1}, with_fife); }
TEST(danek10, reset_N2k1_four_passages) { holds({"danek10-reset", 2, 1, 4}, with_fife); }
TEST(danek10, reset_N3k2_one_passage) { holds({"danek10-reset", 3, 2, 1}, with_fife); }
/// What resetting is for: with no process outside its remainder all is as at the start but Capture, which none reads
/// before it has been cleared. The bakery's tickets go on.
TEST(danek10, reset_returns_to_small_tickets) {
  const auto largest = [](const char* algorithm) {
    program p(make_model(find_algorithm(algorithm), 2, 1), 2, 1, {4, {}});
    walker run(p);
    for (int passages = 0; passages < 4; ++passages)
      for (const int who : {0, 1}) do
          run.step(who);
        while (run.outside(who));
    std::string values;
    for (int v = 0; v < p.variables(); ++v)
      if (p.variable(v).name.starts_with("Ticket")) values += p.variable(v).text(run.value(v)) + " ";
    return values;
  };
  EXPECT_EQ(largest("danek10-reset"), "0 0 ");
  EXPECT_EQ(largest("danek10-fife"), "7 8 ");
}
// Definition 5.1 of Afek et al.: one that has learnt the ticket of a later one may be enabled before an earlier one
// that has not.
TEST(danek10, fife_is_not_enabled_in_order_N3k2) { violated({"danek10-fife", 3, 2, 1}, "enabled-in-order"); }
TEST(danek10, nonatomic_on_safe_registers_N2k1_two_passages) { holds({"danek10-nonatomic", 2, 1, 2, true}, with_fife); }
TEST(danek10, nonatomic_on_atomic_registers_N3k2_one_passage) { holds({"danek10-nonatomic", 3, 2, 1}, with_fife); }
TEST(danek10, nonatomic_on_safe_registers_N3k2_one_passage_is_safe) {
  const check_result result = holds({"danek10-nonatomic", 3, 2, 1, true}, {"k-exclusion"});
  EXPECT_EQ(result.states, 3'339'064U);
}

TEST(danek10, figure_2_needs_atomic_registers) {
  violated({"danek10-fife", 2, 1, 1, true}, "k-exclusion");
  violated({"danek10-kfcfs", 2, 1, 1, true}, "k-exclusion");
  violated({"danek10-fife", 3, 2, 1, true}, "k-exclusion");
}

/// Section 5 of the paper: p0 passes its doorway, p1 enters, p2 and p3 announce themselves and stop; p0 waits for ever.
TEST(danek10, the_papers_schedule_keeps_a_process_of_kfcfs_out) {
  trace t;
  t.of = trial{"danek10-kfcfs", 4, 2, 1}.name();
  t.property = "fife";
  t.schedule = parse_schedule("0x8,1x14,2x2,3x2,0x6,0x2");
  t.loop = 32;
  t.victim = 0;
  program p(make_model(find_algorithm("danek10-kfcfs"), 4, 2), 4, 2, {1, {}});
  EXPECT_EQ(validate(t, p), "");
}

}  // namespace
}  // namespace kgate::lab
