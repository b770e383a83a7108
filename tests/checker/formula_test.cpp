// SPDX-License-Identifier: Apache-2.0
// Temporal formulas: verdicts that other engines give too, fairness, counterexamples judged apart, what is refused.

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <stdexcept>
#include <string>

#include "checker/checked_programs.hpp"

namespace kgate::lab {
namespace {

constexpr auto nobody_starves = "ltl: forall p: [] (entry(p) && !crashed(p) -> <> !entry(p))";

verdict judged(program& p, const std::string& property, int crashes = 0) {
  check_request request;
  request.of = {"toy", p.N(), p.k(), p.options().passages, {}};
  request.properties = {property};
  request.crashes = crashes;
  return verdict_of(check(p, request), property, p);
}

struct sized_case {
  const char* id;
  int N, k, crashes;
};

TEST(Formulas, StarvationIsFoundWhereTheOtherEngineFindsIt) {
  int starved = 0;
  for (const auto& [id, N, k, crashes] : {sized_case{"am97-chain-cc", 3, 2, 1},
                                          {"am97-chain-cc", 3, 2, 2},
                                          {"am97-chain-dsm-small", 2, 1, 0},
                                          {"fa-semaphore", 3, 2, 1},
                                          {"fa-semaphore", 2, 1, 0},
                                          {"flbb79-count", 3, 2, 0},
                                          {"mcs", 3, 1, 0},
                                          {"mcs", 2, 1, 1},
                                          {"am97-queue", 3, 2, 1},
                                          {"peterson-k", 3, 2, 0},
                                          {"peterson-k", 3, 2, 1}}) {
    auto p = from_catalog(id, N, k);
    const verdict expected = judged(*p, "starvation-free", crashes);
    EXPECT_EQ(judged(*p, nobody_starves, crashes), expected) << id << ' ' << N << ' ' << k << ' ' << crashes;
    starved += expected == verdict::violated ? 1 : 0;
  }
  EXPECT_GT(starved, 3);
}

TEST(Formulas, StarvationOfRandomTextsIsDecidedAlike) {
  int starved = 0;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    toys::random_text<checker_machine>::seed = seed;
    auto p = toy<toys::random_text>(2, 2);
    const int crashes = static_cast<int>(seed % 2);
    const verdict expected = judged(*p, "starvation-free", crashes);
    EXPECT_EQ(judged(*p, nobody_starves, crashes), expected) << "seed " << seed;
    starved += expected == verdict::violated ? 1 : 0;
  }
  EXPECT_GT(starved, 10);
}

TEST(Formulas, SafetyIsDecidedLikeStates) {
  auto chain = from_catalog("am97-chain-cc", 3, 2);
  EXPECT_EQ(judged(*chain, "ltl: [] #inside <= 2"), verdict::holds);
  EXPECT_EQ(judged(*chain, "ltl: [] #inside <= 1"), verdict::violated);
  EXPECT_EQ(judged(*chain, "ltl: [] (inside(0) -> #inside >= 1)"), verdict::holds);
  EXPECT_EQ(judged(*chain, "ltl: [] X.0 >= -1 && [] X.0 <= 2"), verdict::holds);
  EXPECT_EQ(judged(*chain, "ltl: [] X.0 >= 0"), verdict::violated);
  EXPECT_EQ(judged(*chain, "ltl: [] !at(1, 4)"), verdict::violated);
  EXPECT_EQ(judged(*chain, "ltl: exists p: <> Q.0 = p"), verdict::holds) << "Q.0 is p0 from the start";
  EXPECT_EQ(judged(*chain, "ltl: [] Q.0 = 0"), verdict::violated);
  EXPECT_EQ(judged(*chain, "ltl: ! inside(2) W entry(2)"), verdict::violated) << "the first step may enter";
}

/// Process 0 passes a door that the others open and shut.
template <class M>
struct door {
  using Private = nothing_private;
  door(typename M::Memory& memory, int, int) : X(memory, {.name = "X"}, 0), Y(memory, {.name = "Y"}, 0) {}
  void acquire(typename M::Process& p, Private&) {
    if (p.id().value == 0) {
      Y.write(p["1"], 1);
      X.await(p["2"], [](int x) { return x == 0; });
    } else {
      X.write(p["3"], 1);
    }
  }
  void release(typename M::Process& p, Private&) { X.write(p["4"], 0); }
  typename M::template Var<int> X, Y;
};

TEST(Formulas, FairnessIsChosen) {
  auto p = toy<door>(2, 2);
  EXPECT_EQ(judged(*p, "ltl: [] (entry(0) -> <> inside(0))"), verdict::violated)
      << "the door may be shut whenever it looks";
  EXPECT_EQ(judged(*p, "ltl-strong: [] (entry(0) -> <> inside(0))"), verdict::holds);
  EXPECT_EQ(judged(*p, "ltl-unfair: [] (exit(0) -> <> remainder(0))"), verdict::holds) << "leaving is one step";
  auto chain = from_catalog("am97-chain-cc", 2, 1);
  EXPECT_EQ(judged(*chain, "ltl: [] (entry(0) -> <> inside(0))"), verdict::holds);
  EXPECT_EQ(judged(*chain, "ltl-unfair: [] (entry(0) -> <> inside(0))"), verdict::violated);
  EXPECT_EQ(judged(*chain, "ltl: [] <> inside(0)"), verdict::violated) << "nobody need leave its remainder";
}

/// Of every run a formula or its negation is true, so they cannot both hold.
TEST(Formulas, AFormulaAndItsNegationDoNotBothHold) {
  std::mt19937 random(7);
  const auto any = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  const std::function<std::string(int)> make = [&](int depth) -> std::string {
    static const char* const atoms[] = {"entry(0)", "inside(0)", "entry(1)", "inside(1)", "#inside = 1", "X.0 = 0"};
    if (depth == 0) return atoms[any(6)];
    switch (any(7)) {
      case 0:
        return "!" + make(depth - 1);
      case 1:
        return "[] " + make(depth - 1);
      case 2:
        return "<> " + make(depth - 1);
      case 3:
        return "(" + make(depth - 1) + " && " + make(depth - 1) + ")";
      case 4:
        return "(" + make(depth - 1) + " -> " + make(depth - 1) + ")";
      case 5:
        return "(" + make(depth - 1) + " U " + make(depth - 1) + ")";
      default:
        return "(" + make(depth - 1) + " W " + make(depth - 1) + ")";
    }
  };
  auto p = from_catalog("am97-chain-cc", 2, 1);
  int held = 0;
  for (int i = 0; i < 120; ++i) {
    const std::string formula = make(1 + any(3));
    const verdict is = judged(*p, "ltl: " + formula), negated = judged(*p, "ltl: !(" + formula + ")");
    EXPECT_FALSE(is == verdict::holds && negated == verdict::holds) << formula;
    held += is == verdict::holds || negated == verdict::holds ? 1 : 0;
  }
  EXPECT_GT(held, 10);
}

TEST(Formulas, AChangedRunNoLongerShowsIt) {
  auto p = toy<toys::lock_bit>(2, 1);
  check_request request;
  request.of = {"toy", 2, 1, 0, {}};
  request.properties = {"ltl: [] (entry(0) -> <> inside(0))"};
  trace t = *check(*p, request).properties.at(0).counterexample;
  ASSERT_GE(t.loop, 0);
  trace other = t;
  other.property = "ltl: <> entry(0) || [] true";
  EXPECT_EQ(validate(other, *p), "the formula is true of this run");
  trace open = t;
  open.schedule.pop_back();
  EXPECT_NE(validate(open, *p), "");
  trace strong = t;
  strong.property = "ltl-strong: [] (entry(0) -> <> inside(0))";
  EXPECT_EQ(validate(strong, *p), "the run is unfair to process 0");
}

TEST(Formulas, MistakesAreExplained) {
  auto p = from_catalog("am97-chain-cc", 2, 1);
  const auto said = [&](const char* formula) -> std::string {
    try {
      judged(*p, std::string("ltl: ") + formula);
      return "accepted";
    } catch (const std::invalid_argument& e) {
      return e.what();
    }
  };
  EXPECT_NE(said("[] inside(2)").find("a process number from 0 to 1"), std::string::npos) << said("[] inside(2)");
  EXPECT_NE(said("[] Y = 1").find("a variable (X.0"), std::string::npos) << said("[] Y = 1");
  EXPECT_NE(said("[] (inside(0)").find("')' is expected"), std::string::npos) << said("[] (inside(0)");
  EXPECT_NE(said("X.0 1").find("one of = !="), std::string::npos) << said("X.0 1");
  EXPECT_NE(said("inside(0) inside(1)").find("an operator or the end"), std::string::npos);
}

}  // namespace
}  // namespace kgate::lab
