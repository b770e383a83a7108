// SPDX-License-Identifier: Apache-2.0
/// Every interleaving of operations on a resilient object: the wait-free object for k behind k-assignment, for N > k
/// processes.

#include <deque>

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

TEST(ResilientExplored, KnowingTheTakenNamesItIsLinearizableToo) {
  expect_linearizable<pair, one_word_names>(2'000'000);
  const operations_result two_each = explored<tiny, resilient_operations<tiny, one_word_names>>(2, 2, 2);
  EXPECT_TRUE(two_each.complete);
  EXPECT_TRUE(two_each.linearizable) << two_each.why;
  EXPECT_FALSE(two_each.waited);
}

/// Behind kgate::slots, with as many processes as slots. One more, which waits in the queue, has more states than fit.
TEST(ResilientExplored, BehindSlotsTwoProcessesTwoOperationsEach) {
  const operations_result r = explored<tiny, resilient_operations<tiny, slots_names>>(2, 2, 2);
  EXPECT_TRUE(r.complete);
  EXPECT_TRUE(r.linearizable) << r.why;
  EXPECT_FALSE(r.waited);
}

/// A process that waits for a bit of one word may be unlucky for ever, but not all are.
TEST(ResilientExplored, InOneWordSomebodyAlwaysEndsThoughOneStallsForEver) {
  EXPECT_EQ((ends_despite<tiny, resilient_operations<tiny, one_word_names>>(1, 2 * gigabyte, "deadlock-free")),
            verdict::holds);
  EXPECT_EQ((ends_despite<tiny, resilient_operations<tiny, one_word_names>>(2, 2 * gigabyte, "deadlock-free")),
            verdict::violated);
}

/// A process that learns only of itself inside helps no other, and loses their results.
class blind_names : public one_word_names {
 public:
  blind_names(checker_machine::Memory& memory, int N, int k) : one_word_names(memory, N, k) {
    for (int i = 0; i < N; ++i) own_.emplace_back(memory, variable{.name = "own", .instance = i}, std::uint8_t{0});
  }
  void acquire(checker_machine::Process& p, Private& mine) {
    one_word_names::acquire(p, mine);
    own(p).write(p["own"], static_cast<std::uint8_t>(1U << mine.name));
  }
  std::uint8_t taken_names(checker_machine::Process& p) { return own(p).read(p["own"]); }

 private:
  checker_machine::Var<std::uint8_t>& own(checker_machine::Process& p) {
    return own_[static_cast<std::size_t>(p.id().value)];
  }
  std::deque<checker_machine::Var<std::uint8_t>> own_;
};

TEST(ResilientMutant, WithoutKnowingOfOthersIsNotLinearizable) {
  const operations_result r = explored<pair, resilient_operations<pair, blind_names, announced_rules>>(2, 2, 2);
  EXPECT_FALSE(r.linearizable) << r.states << " states";
}

/// An assignment that lets every process in under the name 0: two then build their copy in the same block.
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
