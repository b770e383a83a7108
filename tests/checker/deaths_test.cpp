// SPDX-License-Identifier: Apache-2.0
/// Free choices, deaths that others can find out about, and invariants beside a text: counted by hand on toys.
#include <gtest/gtest.h>

#include "lab/checker/model/walker.hpp"
#include "lab/checker/properties/check.hpp"
#include "lab/checker/trace/trace.hpp"

namespace kgate::lab {
namespace {

using M = checker_machine;

/// Chooses one of three and writes it.
struct chooser {
  explicit chooser(M::Memory& memory) : three(memory, "three", 3), X(memory, {.name = "X"}, 0) {}
  void passage(M::Process& p) {
    p.begin_entry();
    X.write(p["2"], three.read(p["1"]));
    p.enter_critical(-1);
    p.end_section();
  }
  M::Choice three;
  M::Var<int> X;
};

/// One step that ends in any of three ways.
struct three_ways {
  explicit three_ways(M::Memory& memory) : X(memory, {.name = "X"}, 0) { X.allow_ways(3); }
  void passage(M::Process& p) {
    p.begin_entry();
    X.rmw_choosing(
        p["1"], 3, [](int old, int way) { return 10 * old + way + 1; }, [](int, int way) { return way; });
    p.enter_critical(-1);
    p.end_section();
  }
  M::Var<int> X;
};

/// Waits for X, which it has set or not, or has an accident instead.
struct accident {
  explicit accident(M::Memory& memory) : X(memory, {.name = "X"}, 0) { X.allow_ways(2); }
  void passage(M::Process& p) {
    p.begin_entry();
    X.write(p["0"], sets ? 1 : 0);
    X.await_choosing(
        p["1"], 2, [](int old) { return old != 0; }, [](int old, int way) { return way == 0 ? old : 2; },
        [](int, int way) { return way; });
    p.enter_critical(-1);
    p.end_section();
  }
  M::Var<int> X;
  bool sets = true;
};

/// Takes a lock and gives it back; a waiter sees when its holder has died (9) and goes on.
struct mortal_lock {
  explicit mortal_lock(M::Memory& memory) : L(memory, {.name = "L"}, 0) {}
  void passage(M::Process& p) {
    p.begin_entry();
    for (;;) {
      p.live();
      if (L.compare_and_swap(p["1"], 0, 1)) break;
      if (heals && L.compare_and_swap(p["2"], 9, 1)) break;
    }
    p.live();
    p.enter_critical(-1);
    L.write(p["3"], 0);
    p.end_section();
  }
  M::Var<int> L;
  bool heals = true;
};

template <class Toy>
std::unique_ptr<model> make(Toy*& made) {
  auto m = std::make_unique<model>();
  auto toy = std::make_shared<Toy>(m->memory);
  made = toy.get();
  m->algorithm = toy;
  m->passage = [t = toy.get()](M::Process& p) { t->passage(p); };
  return m;
}

check_result judge(program& p, int N, std::vector<std::string> properties, bool symmetry = false) {
  check_request request;
  request.of = {"toy", N, 1, p.options().passages, {}};
  request.properties = std::move(properties);
  request.crashes = 0;
  request.symmetry = symmetry;
  return check(p, request);
}

program_options once(int deaths) { return {.passages = 1, .wrong = {}, .deaths_max = deaths}; }

TEST(Choices, EveryOneIsTakenInSomeRun) {
  chooser* toy = nullptr;
  program p(make(toy), 1, 1, once(0));
  // The start; three after the choice; three after the write; three after the step that ends the passage.
  EXPECT_EQ(judge(p, 1, {"k-exclusion"}).states, 10U);
  EXPECT_EQ(p.variable(1).values.size(), 3U);
}

TEST(Ways, EveryOneIsTakenInSomeRunAndInOneStep) {
  three_ways* toy = nullptr;
  program p(make(toy), 1, 1, once(0));
  // The start; three after the step; three after the one that ends the passage.
  EXPECT_EQ(judge(p, 1, {"k-exclusion"}).states, 7U);
  EXPECT_EQ(p.variable(0).values.size(), 4U);
  program both(make(toy), 2, 1, once(0));
  EXPECT_EQ(judge(both, 2, {"bounded-exit"}).properties.at(0).is, verdict::holds);
  EXPECT_EQ(both.variable(0).values.size(), 1U + 3U + 9U);
  walker w(both);
  EXPECT_EQ(w.choices(1), 3);
  EXPECT_EQ(w.step(1, 2).written, "3");
  EXPECT_EQ(w.step(0, 1).written, "32");
}

TEST(Ways, ASymmetricSearchTakesThemToo) {
  three_ways* toy = nullptr;
  program p(make(toy), 2, 2, once(0)), q(make(toy), 2, 2, once(0));
  check_request request;
  request.of = {"toy", 2, 2, 1, {}};
  request.properties = {"k-exclusion", "starvation-free"};
  request.crashes = 0;
  const check_result all = check(p, request);
  request.symmetry = true;
  const check_result reduced = check(q, request);
  EXPECT_LT(reduced.states, all.states);
  EXPECT_EQ(reduced.orbit_states, all.states);
  for (const property_result& one : reduced.properties) EXPECT_EQ(one.is, verdict::holds) << one.name << one.why;
}

TEST(Ways, NobodyOwesAnAccident) {
  for (const bool sets : {true, false}) {
    accident* toy = nullptr;
    auto m = make(toy);
    toy->sets = sets;
    program p(std::move(m), 1, 1, once(0));
    const check_result result = judge(p, 1, {"deadlock-free", "starvation-free"});
    for (const property_result& one : result.properties) {
      EXPECT_EQ(one.is, sets ? verdict::holds : verdict::violated) << one.name;
      if (one.counterexample) {
        EXPECT_EQ(validate(*one.counterexample, p), "");
      }
    }
    EXPECT_EQ(p.variable(0).values.size(), sets ? 3U : 2U);
    walker w(p);
    w.step(0);
    EXPECT_EQ(w.can_move(0), sets);
    EXPECT_TRUE(w.can_move(0, 1));
  }
}

TEST(Deaths, AreStepsOfTheirOwn) {
  mortal_lock* toy = nullptr;
  auto m = make(toy);
  m->deaths =
      mortality{0, [](const std::string& value, int) { return from_bytes<int>(value) == 1 ? to_bytes(9) : value; }};
  program p(std::move(m), 1, 1, once(1));
  // Alive: before, inside, done. Dead: without the lock, with it.
  EXPECT_EQ(judge(p, 1, {"k-exclusion"}).states, 5U);
}

TEST(Deaths, StopThoseWhoCannotFindOut) {
  for (const bool heals : {true, false}) {
    mortal_lock* toy = nullptr;
    auto m = make(toy);
    toy->heals = heals;
    m->deaths =
        mortality{0, [](const std::string& value, int) { return from_bytes<int>(value) == 1 ? to_bytes(9) : value; }};
    program p(std::move(m), 2, 1, once(2));
    const check_result result = judge(p, 2, {"starvation-free"});
    const property_result& one = result.properties.at(0);
    EXPECT_EQ(one.is, heals ? verdict::holds : verdict::violated);
    if (!one.counterexample) continue;
    EXPECT_EQ(validate(*one.counterexample, p), "");
    EXPECT_NE(one.counterexample->replay_command().find('!'), std::string::npos);
  }
}

TEST(Deaths, ASymmetricSearchFindsWhatTheFullOneFinds) {
  for (const bool heals : {true, false}) {
    const auto made = [heals] {
      mortal_lock* toy = nullptr;
      auto m = make(toy);
      toy->heals = heals;
      m->deaths =
          mortality{0, [](const std::string& value, int) { return from_bytes<int>(value) == 1 ? to_bytes(9) : value; }};
      return m;
    };
    program p(made(), 3, 1, once(2)), q(made(), 3, 1, once(2));
    const check_result all = judge(p, 3, {"starvation-free"});
    const check_result reduced = judge(q, 3, {"starvation-free"}, true);
    EXPECT_LT(reduced.states, all.states);
    EXPECT_EQ(reduced.orbit_states, all.states);
    for (const property_result& one : reduced.properties)
      EXPECT_EQ(one.is, heals ? verdict::holds : verdict::violated) << one.name << one.why;
  }
}

TEST(Deaths, AreWrittenAndReadInSchedules) {
  const std::vector<int> schedule{0, scheduled(1, death_choice), scheduled(0, 2)};
  EXPECT_EQ(schedule_text(schedule), "0,1!,0?2");
  EXPECT_EQ(parse_schedule("0,1!,0?2"), schedule);
}

TEST(Deaths, NoMoreThanAllowed) {
  mortal_lock* toy = nullptr;
  auto m = make(toy);
  m->deaths = mortality{0, [](const std::string& value, int) { return value; }};
  program p(std::move(m), 2, 1, once(1));
  walker w(p);
  EXPECT_TRUE(w.may_die(0));
  w.step(0, death_choice);
  EXPECT_FALSE(w.may_die(1));
  EXPECT_FALSE(w.may_die(0));
}

TEST(Invariants, AreJudgedInEveryState) {
  mortal_lock* toy = nullptr;
  auto m = make(toy);
  m->invariant = [](const state_view& s) { return from_bytes<int>(s.value(0)) == 1 ? "the lock is taken" : ""; };
  program p(std::move(m), 1, 1, once(0));
  const check_result result = judge(p, 1, {"invariant"});
  ASSERT_EQ(result.properties.at(0).is, verdict::violated);
  const trace& t = *result.properties.at(0).counterexample;
  EXPECT_EQ(t.what, "the lock is taken");
  EXPECT_EQ(t.schedule.size(), 1U);
  EXPECT_EQ(validate(t, p), "");
}

}  // namespace
}  // namespace kgate::lab
