// SPDX-License-Identifier: Apache-2.0
/// Every interleaving of operations on a resilient object: the wait-free object for k behind k-assignment, for N > k
/// processes.

#include "resilient_explored.hpp"

namespace kgate::lab {
namespace {

constexpr std::uint64_t gigabyte = std::uint64_t{1} << 30;

TEST(ResilientExplored, ThreeProcessesOneOperationEachTwoAtATime) {
  expect_linearizable<pair, papers_names>(2'000'000);
}

TEST(ResilientExplored, TheOthersEndThoughOneStallsForEver) {
  EXPECT_EQ((ends_despite<tiny, resilient_operations<tiny, papers_names>>(1, 2 * gigabyte)), verdict::holds);
}

/// That the check above can fail.
TEST(ResilientExplored, TwoStalledAreOneTooMany) {
  EXPECT_EQ((ends_despite<tiny, resilient_operations<tiny, papers_names>>(2, 2 * gigabyte)), verdict::violated);
}

TEST(ResilientExplored, ToldWhoIsInsideItIsLinearizableToo) {
  expect_linearizable<pair, one_word_names>(2'000'000);
  const operations_result two_each = explored<tiny, resilient_operations<tiny, one_word_names>>(2, 2, 2);
  EXPECT_TRUE(two_each.complete);
  EXPECT_TRUE(two_each.linearizable) << two_each.why;
  EXPECT_FALSE(two_each.waited);
}

/// Behind kgate::slots, with as many processes as slots. One more, who waits in line, has more states than fit.
TEST(ResilientExplored, BehindSlotsTwoProcessesTwoOperationsEach) {
  const operations_result r = explored<tiny, resilient_operations<tiny, slots_names>>(2, 2, 2);
  EXPECT_TRUE(r.complete);
  EXPECT_TRUE(r.linearizable) << r.why;
  EXPECT_FALSE(r.waited);
}

/// Who waits for a bit of one word may be unlucky for ever, but not everybody is.
TEST(ResilientExplored, InOneWordSomebodyAlwaysEndsThoughOneStallsForEver) {
  EXPECT_EQ((ends_despite<tiny, resilient_operations<tiny, one_word_names>>(1, 2 * gigabyte, "deadlock-free")),
            verdict::holds);
  EXPECT_EQ((ends_despite<tiny, resilient_operations<tiny, one_word_names>>(2, 2 * gigabyte, "deadlock-free")),
            verdict::violated);
}

/// Told that only itself is inside, a process helps nobody and loses their results.
class blind_names : public one_word_names {
 public:
  using one_word_names::one_word_names;
  std::uint8_t taken_names(checker_machine::Process&) { return 0; }
};

/// An operation that nobody carries out has a result that was never written: the checker may find that first.
TEST(ResilientMutant, NotToldOfOthersIsNotLinearizable) {
  try {
    EXPECT_FALSE((explored<pair, resilient_operations<pair, blind_names, announced_rules>>(2, 2, 2).linearizable));
  } catch (const text_error& found) {
    EXPECT_NE(std::string(found.what()).find("never written"), std::string::npos) << found.what();
  }
}

/// An assignment that lets everybody in under the name 0: two then build their copy in the same block.
class no_assignment {
 public:
  struct Private {
    int name = 0;
  };
  no_assignment(checker_machine::Memory&, int, int) {}
  void acquire(checker_machine::Process&, Private&) {}
  void release(checker_machine::Process&, Private&) {}
};

TEST(ResilientMutant, WithoutAssignmentIsNotLinearizable) {
  EXPECT_FALSE((explored<pair, resilient_operations<pair, no_assignment>>(2, 2, 2).linearizable));
}

}  // namespace
}  // namespace kgate::lab
