// SPDX-License-Identifier: Apache-2.0
// The classics of mutual exclusion: what they promise (promises_test decides that for every row as well), what errors
// in them break, and their remote memory references.

#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "algorithms/verdicts.hpp"
#include "lab/rmr/worst_case.hpp"

namespace kgate::lab {
namespace {

TEST(Classics, PetersonIsPetersonKWithOneInside) {
  for (const int N : {2, 3}) holds({"peterson-k", N, 1, 0}, {"k-exclusion", "starvation-free", "bounded-exit"});
}

TEST(Classics, BakeryHoldsOnSafeRegisters) {
  holds({"bakery", 2, 1, 2, true}, {"k-exclusion", "k-fcfs"});
  holds({"bakery", 3, 1, 1, true}, {"k-exclusion"});
}

TEST(Classics, BakeryHoldsForTwoPassages) { holds({"bakery", 2, 1, 2}, {"k-exclusion", "k-fcfs", "bounded-exit"}); }

TEST(Classics, TicketsAndClhServeInOrder) {
  holds({"ticket", 3, 1, 2}, {"k-exclusion", "k-fcfs", "fife", "bounded-exit"});
  holds({"clh", 3, 1, 0}, {"k-exclusion", "starvation-free", "k-fcfs", "fife", "bounded-exit"});
}

TEST(Classics, BurnsLynchIsDeadlockFreeOnly) {
  holds({"burns-lynch", 3, 1, 0}, {"k-exclusion", "deadlock-free", "bounded-exit"});
  violated({"burns-lynch", 2, 1, 0}, "starvation-free");
}

TEST(Classics, DekkerGivesWayOnlyWhenItIsNotItsTurn) {
  holds({"dekker", 2, 1, 0}, {"k-exclusion", "starvation-free", "bounded-exit"});
}

struct mutant {
  const char* algorithm;
  int N;
  int passages;
  const char* error;
  const char* breaks;
  const char* what;
};

std::ostream& operator<<(std::ostream& out, const mutant& m) {
  return out << m.algorithm << ' ' << m.error << ": " << m.what;
}

class ClassicMutant : public testing::TestWithParam<mutant> {};

TEST_P(ClassicMutant, IsCaught) {
  const mutant& m = GetParam();
  violated({m.algorithm, m.N, 1, m.passages, false, false, {m.error}}, m.breaks);
}

const mutant mutants[] = {
    {"dekker", 2, 0, "drop:1", "k-exclusion", "the flag is not raised"},
    {"dekker", 2, 0, "drop:6", "k-exclusion", "the flag is not raised again after giving way"},
    {"dekker", 2, 0, "force:2=0", "k-exclusion", "the other's flag is not looked at"},
    {"dekker", 2, 0, "drop:7", "starvation-free", "the turn is not passed on"},
    {"dekker", 2, 0, "drop:4", "deadlock-free", "nobody gives way"},
    {"dekker", 2, 0, "drop:8", "deadlock-free", "the flag stays up"},
    {"peterson-k", 2, 0, "defer:1", "k-exclusion", "the turn is given away before the interest is announced"},
    {"peterson-k", 2, 0, "drop:2", "starvation-free", "the turn is not given away"},
    {"bakery", 2, 1, "drop:1", "k-exclusion", "the taking of a number cannot be seen"},
    {"bakery", 2, 1, "force:5=0", "k-exclusion", "nobody waits for those that are taking a number"},
    {"bakery", 2, 1, "force:6=0", "k-exclusion", "nobody waits for smaller numbers"},
    {"bakery", 2, 2, "force:2=0", "k-fcfs", "everybody takes number 1"},
    {"bakery", 2, 1, "drop:7", "deadlock-free", "the number is not given back"},
    {"burns-lynch", 3, 0, "drop:3", "k-exclusion", "the flag is not raised"},
    {"burns-lynch", 3, 0, "force:4=0", "k-exclusion", "lower flags are not looked at again"},
    {"burns-lynch", 3, 0, "drop:5", "k-exclusion", "higher flags are not waited for"},
    {"burns-lynch", 3, 0, "drop:1", "deadlock-free", "the flag stays up while it gives way"},
    {"ticket", 2, 2, "drop:2", "k-exclusion", "nobody waits"},
    {"ticket", 2, 2, "drop:4", "deadlock-free", "nobody is served next"},
    {"ticket", 3, 2, "force:1=0", "k-exclusion", "everybody has the first ticket"},
    {"clh", 2, 0, "drop:2", "k-exclusion", "the node is not locked"},
    {"clh", 2, 0, "drop:4", "k-exclusion", "nobody waits"},
    {"clh", 2, 0, "drop:5", "deadlock-free", "the node is not unlocked"},
    {"clh", 2, 0, "drop:6", "deadlock-free", "the node is used again although its successor still looks at it"},
    {"clh", 2, 0, "defer:2", "k-exclusion", "the node is locked after it can be seen"},
};

INSTANTIATE_TEST_SUITE_P(ByLabel, ClassicMutant, testing::ValuesIn(mutants), [](const auto& it) {
  std::string name = std::string(it.param.algorithm) + "_" + it.param.error;
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = c == '=' ? 'e' : '_';
  return name;
});

rmr_result worst(const char* id, int N, memory_model model) {
  const catalog::choice algorithm = find_algorithm(id);
  program p(make_model(algorithm, N, 1), N, 1, {algorithm.base->bounded_variables ? 0 : 2, {}});
  return worst_rmr(p, {model, true}, 0, {});
}

/// What the headers claim is reached, and not exceeded.
TEST(ClassicRmr, IsWhatTheRowsClaim) {
  for (const auto& [id, N] :
       {std::pair{"dekker", 2}, {"ticket", 2}, {"ticket", 3}, {"clh", 2}, {"clh", 3}, {"mcs", 2}}) {
    const rmr_result cc = worst(id, N, memory_model::cc);
    EXPECT_TRUE(cc.complete && !cc.unbounded) << id;
    EXPECT_EQ(cc.worst, catalog::rmr_claimed(find_algorithm(id), catalog::rmr_model::cc, N, 1, N)->count) << id << N;
  }
}

TEST(ClassicRmr, WaitingIsNotLocalOnDsm) {
  for (const char* id : {"dekker", "clh", "burns-lynch"}) EXPECT_TRUE(worst(id, 2, memory_model::dsm).unbounded) << id;
  EXPECT_TRUE(worst("burns-lynch", 2, memory_model::cc).unbounded);
  EXPECT_FALSE(worst("mcs", 2, memory_model::dsm).unbounded);
}

}  // namespace
}  // namespace kgate::lab
