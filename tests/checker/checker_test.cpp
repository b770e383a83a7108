// SPDX-License-Identifier: Apache-2.0
// Tests of the checker itself: state counts known by hand, verdicts known by hand, two engines, limits, and the audit.

#include <gtest/gtest.h>

#include <atomic>

#include "checker/reference_engine.hpp"
#include "checker/toy_algorithms.hpp"
#include "lab/checker/explore/symmetry.hpp"
#include "lab/checker/model/audit.hpp"
#include "lab/checker/model/local_analysis.hpp"
#include "lab/checker/properties/check.hpp"
#include "lab/models/models.hpp"
#include "lab/rmr/worst_case.hpp"

namespace kgate::lab {
namespace {

template <template <class> class Toy>
std::unique_ptr<program> toy(int N, int k, program_options options = {}) {
  return std::make_unique<program>(make_model<Toy<checker_machine>>(N, k), N, k, std::move(options));
}

std::unique_ptr<program> from_catalog(const char* id, int N, int k) {
  return std::make_unique<program>(make_model(find_algorithm(id), N, k), N, k, program_options{});
}

check_result check_all(program& p, int crashes, int threads = 1) {
  check_request request;
  request.of = {"toy", p.N(), p.k(), p.options().passages, {}};
  request.properties = {"k-exclusion", "deadlock-free", "starvation-free", "bounded-exit"};
  request.crashes = crashes;
  request.limits.threads = threads;
  return check(p, request);
}

/// The verdict, after the counterexample, if there is one, has been judged apart.
verdict verdict_of(const check_result& r, std::string_view property, program& p) {
  for (const property_result& one : r.properties) {
    if (one.name != property) continue;
    if (one.is == verdict::violated) {
      EXPECT_TRUE(one.counterexample.has_value());
      if (one.counterexample) {
        EXPECT_EQ(validate(*one.counterexample, p), "") << property;
      }
    }
    return one.is;
  }
  ADD_FAILURE() << "no verdict for " << property;
  return verdict::undecided;
}

TEST(StateCounts, ATurnstileHasTwoToTheN) {
  for (int N = 1; N <= 6; ++N) {
    auto p = toy<toys::turnstile>(N, N);
    const exploration e = explore(*p, {}, {});
    EXPECT_TRUE(e.complete);
    EXPECT_EQ(e.states, std::uint64_t{1} << N);
    EXPECT_EQ(e.transitions, static_cast<std::uint64_t>(N) << N);
    EXPECT_EQ(e.levels.size(), static_cast<std::size_t>(N) + 1) << "the state with all inside is N steps away";
  }
}

TEST(StateCounts, ALimitedTurnstileCountsPassages) {
  // Two passages: each process is before, in or after one of them: 5 local states, all combinations.
  auto p = toy<toys::turnstile>(3, 3, {.passages = 2, .wrong = {}});
  const exploration e = explore(*p, {}, {});
  EXPECT_EQ(e.states, 5U * 5 * 5);
  EXPECT_EQ(e.transitions, 3U * 4 * 5 * 5);
}

TEST(StateCounts, ALockBitForTwoHasEleven) {
  auto p = toy<toys::lock_bit>(2, 1);
  const exploration e = explore(*p, {}, {});
  EXPECT_EQ(e.states, 11U);
  EXPECT_EQ(e.transitions, 20U);
}

TEST(StateCounts, ABatonVisitsEveryCombination) {
  // The holder of the turn is in its remainder or inside; the others stand before the same wait, which does not count
  // as having left the remainder until it succeeds: N holders times 2.
  for (int N = 2; N <= 5; ++N) {
    auto p = toy<toys::round_robin>(N, 1);
    const exploration e = explore(*p, {}, {});
    EXPECT_EQ(e.states, 2U * static_cast<unsigned>(N));
    EXPECT_EQ(e.transitions, 2U * static_cast<unsigned>(N)) << "only the holder of the turn ever moves";
  }
}

struct engine_case {
  const char* id;
  int N, k;
};
class TwoEngines : public testing::TestWithParam<engine_case> {};

TEST_P(TwoEngines, FindTheSameStatesAndSteps) {
  const auto [id, N, k] = GetParam();
  auto p = from_catalog(id, N, k);
  const exploration fast = explore(*p, {}, {});
  auto again = from_catalog(id, N, k);
  const reference_count slow = explore_by_reference(*again);
  EXPECT_EQ(fast.states, slow.states);
  EXPECT_EQ(fast.transitions, slow.transitions);
  EXPECT_LE(slow.inside_max, k);
}
INSTANTIATE_TEST_SUITE_P(Small, TwoEngines,
                         testing::Values(engine_case{"am97-chain-cc", 2, 1}, engine_case{"am97-chain-cc", 3, 2},
                                         engine_case{"am97-chain-cc", 3, 1}, engine_case{"am97-chain-dsm", 3, 2},
                                         engine_case{"am97-chain-dsm-small", 2, 1},
                                         engine_case{"am97-fastpath-nested-cc", 3, 1},
                                         engine_case{"am97-tree-cc", 3, 1}, engine_case{"am97-chain-cc+names", 3, 2},
                                         engine_case{"am97-queue", 3, 2}, engine_case{"peterson-k", 3, 2},
                                         engine_case{"fa-semaphore", 3, 2}, engine_case{"mcs", 3, 1}),
                         [](const auto& it) {
                           std::string name = it.param.id;
                           for (char& c : name)
                             if (c == '-' || c == '+') c = '_';
                           return name + "_N" + std::to_string(it.param.N) + "_k" + std::to_string(it.param.k);
                         });

TEST(Threads, DoNotChangeWhatIsFound) {
  for (const char* id : {"am97-chain-cc", "am97-chain-dsm", "am97-fastpath-nested-cc"}) {
    std::vector<std::uint64_t> states, transitions;
    std::vector<std::size_t> depth;
    for (const int threads : {1, 2, 4}) {
      auto p = from_catalog(id, 3, 1);
      run_limits limits;
      limits.threads = threads;
      const exploration e = explore(*p, {}, limits);
      states.push_back(e.states);
      transitions.push_back(e.transitions);
      depth.push_back(e.levels.size());
    }
    EXPECT_TRUE(states[0] == states[1] && states[0] == states[2]) << id;
    EXPECT_TRUE(transitions[0] == transitions[1] && transitions[0] == transitions[2]) << id;
    EXPECT_TRUE(depth[0] == depth[1] && depth[0] == depth[2]) << id;
  }
}

TEST(Threads, GiveCounterexamplesOfTheSameLength) {
  std::vector<std::size_t> length;
  for (const int threads : {1, 2, 4}) {
    auto p = from_catalog("fa-semaphore", 3, 1);
    const check_result r = check_all(*p, 1, threads);
    EXPECT_EQ(verdict_of(r, "deadlock-free", *p), verdict::violated);
    length.push_back(r.properties[1].counterexample->schedule.size());
  }
  EXPECT_TRUE(length[0] == length[1] && length[1] == length[2]);
}

/// The orbits' sizes add up to the states of the full search from all renamings of the initial state.
TEST(Symmetry, OrbitsAddUpToAllStates) {
  for (const auto& [id, N, k] :
       {engine_case{"am97-chain-cc", 3, 1}, engine_case{"am97-chain-cc", 4, 2}, engine_case{"am97-chain-dsm", 3, 1},
        engine_case{"am97-fastpath-nested-cc", 4, 2}, engine_case{"am97-chain-dsm-small", 3, 2},
        engine_case{"am97-chain-cc+names", 3, 2}, engine_case{"am97-tree-cc", 4, 2},
        engine_case{"am97-fastpath-tree-cc", 3, 2}, engine_case{"fa-semaphore", 4, 2}, engine_case{"mcs", 3, 1}}) {
    auto full = from_catalog(id, N, k);
    explore_options from_everywhere;
    from_everywhere.renamed_starts = true;
    const exploration all = explore(*full, from_everywhere, {});
    auto reduced = from_catalog(id, N, k);
    explore_options options;
    options.symmetry = true;
    const exploration orbits = explore(*reduced, options, {});
    EXPECT_LT(orbits.states, all.states) << id;
    EXPECT_EQ(orbits.orbit_states, all.states) << id;
  }
}

TEST(Symmetry, CounterexamplesAreRealRuns) {
  program_options wrong;
  wrong.wrong = {mutation::parse("force:4=0")};
  program p(make_model(find_algorithm("am97-chain-cc"), 3, 1), 3, 1, wrong);
  check_request request;
  request.of = {"am97-chain-cc", 3, 1, 0, wrong.wrong};
  request.properties = {"k-exclusion"};
  request.symmetry = true;
  const check_result r = check(p, request);
  EXPECT_EQ(verdict_of(r, "k-exclusion", p), verdict::violated);
}

struct wrong_case {
  const char* id;
  int N, k, crashes;
  const char* mutation;
};

/// Fairness on the reduced states against fairness on all of them, for algorithms that starve and ones that do not. The
/// counterexamples of the reduced search are judged as real runs.
TEST(Symmetry, StarvationIsFoundExactlyWhereTheFullSearchFindsIt) {
  int starved = 0, served = 0;
  for (const auto& [id, N, k, crashes, mutation_text] : {wrong_case{"am97-chain-cc", 3, 2, 1, ""},
                                                         {"am97-chain-cc", 3, 2, 2, ""},
                                                         {"am97-chain-cc", 4, 2, 1, ""},
                                                         {"am97-chain-cc", 4, 2, 2, ""},
                                                         {"am97-chain-cc", 4, 3, 2, ""},
                                                         {"am97-chain-dsm", 3, 1, 0, ""},
                                                         {"am97-chain-dsm", 3, 1, 1, ""},
                                                         {"am97-chain-dsm-small", 3, 2, 1, ""},
                                                         {"am97-chain-dsm-small", 3, 2, 2, ""},
                                                         {"am97-tree-cc", 4, 2, 1, ""},
                                                         {"am97-tree-cc", 4, 2, 2, ""},
                                                         {"am97-fastpath-tree-cc", 3, 2, 1, ""},
                                                         {"am97-fastpath-nested-cc", 4, 2, 1, ""},
                                                         {"fa-semaphore", 3, 2, 1, ""},
                                                         {"fa-semaphore", 4, 2, 0, ""},
                                                         {"flbb79-count", 3, 2, 0, ""},
                                                         {"mcs", 3, 1, 0, ""},
                                                         {"mcs", 3, 1, 1, ""},
                                                         {"am97-chain-cc", 3, 2, 1, "defer:7"},
                                                         {"am97-chain-cc", 3, 1, 0, "defer:7"},
                                                         {"am97-chain-cc", 3, 2, 1, "force:4=-1"},
                                                         {"am97-chain-cc", 3, 2, 1, "drop:8"},
                                                         {"am97-chain-dsm", 3, 2, 1, "drop:4"},
                                                         {"am97-chain-dsm", 3, 2, 1, "drop:12"},
                                                         {"am97-chain-dsm", 3, 2, 1, "force:7=-1"},
                                                         {"am97-chain-dsm-small", 3, 2, 1, "drop:3"},
                                                         {"am97-chain-dsm-small", 3, 2, 1, "drop:5"},
                                                         {"am97-chain-dsm-small", 3, 2, 1, "drop:16"},
                                                         {"am97-chain-dsm-small", 3, 2, 1, "defer:14"}}) {
    SCOPED_TRACE(std::string(id) + " N" + std::to_string(N) + " k" + std::to_string(k) + " f" +
                 std::to_string(crashes) + ' ' + mutation_text);
    program_options options;
    if (*mutation_text != '\0') options.wrong = {mutation::parse(mutation_text)};
    verdict by[2];
    for (const bool symmetry : {false, true}) {
      program p(make_model(find_algorithm(id), N, k), N, k, options);
      check_request request;
      request.of = {id, N, k, 0, options.wrong};
      request.properties = {"starvation-free"};
      request.crashes = crashes;
      request.symmetry = symmetry;
      by[symmetry] = verdict_of(check(p, request), "starvation-free", p);
    }
    EXPECT_EQ(by[0], by[1]);
    EXPECT_NE(by[0], verdict::undecided);
    ++(by[0] == verdict::violated ? starved : served);
  }
  EXPECT_GT(starved, 5);
  EXPECT_GT(served, 5);
}

/// The same over texts made up at random, where going round a cycle of reduced states exchanges processes in all kinds
/// of ways.
TEST(Symmetry, StarvationOfRandomTextsIsDecidedAlike) {
  int starved = 0, served = 0;
  for (std::uint64_t seed = 1; seed <= 600; ++seed) {
    toys::random_text<checker_machine>::seed = seed;
    const int N = 2 + static_cast<int>(seed % 2);
    const int crashes = static_cast<int>(seed / 2 % 2);
    verdict by[2];
    for (const bool symmetry : {false, true}) {
      auto p = toy<toys::random_text>(N, N);
      check_request request;
      request.of = {"toy", N, N, 0, {}};
      request.properties = {"starvation-free"};
      request.crashes = crashes;
      request.symmetry = symmetry;
      by[symmetry] = verdict_of(check(*p, request), "starvation-free", *p);
    }
    EXPECT_EQ(by[0], by[1]) << "seed " << seed;
    ++(by[0] == verdict::violated ? starved : served);
  }
  EXPECT_GT(starved, 50);
  EXPECT_GT(served, 50);
}

/// The one cycle of reduced states exchanges the two dancers: only that makes it fair.
TEST(Symmetry, TurnsTakenByExchangedProcessesAreFair) {
  for (const auto& [N, expected] : {std::pair{2, verdict::holds}, {3, verdict::violated}})
    for (const bool symmetry : {false, true}) {
      auto p = toy<toys::dance>(N, N);
      check_request request;
      request.of = {"toy", N, N, 0, {}};
      request.properties = {"starvation-free"};
      request.symmetry = symmetry;
      EXPECT_EQ(verdict_of(check(*p, request), "starvation-free", *p), expected) << N << ' ' << symmetry;
    }
}

/// A reduced search takes each step for one process; the automata of all must still come out whole.
TEST(Symmetry, AutomataAreCompletedByRenaming) {
  for (const auto& [id, N, k] : {engine_case{"am97-chain-cc", 4, 2}, engine_case{"am97-chain-dsm-small", 3, 2},
                                 engine_case{"am97-fastpath-tree-cc", 4, 2}, engine_case{"mcs", 3, 1}}) {
    auto full = from_catalog(id, N, k);
    explore_options from_everywhere;
    from_everywhere.renamed_starts = true;
    explore(*full, from_everywhere, {});
    auto reduced = from_catalog(id, N, k);
    explore_options options;
    options.symmetry = true;
    const exploration e = explore(*reduced, options, {});
    canonical_form(*e.table).complete_automata();
    for (int p = 0; p < N; ++p) {
      std::size_t known[2] = {0, 0};
      full->for_each_step(p, [&](local_id, code, const transition&) { ++known[0]; });
      reduced->for_each_step(p, [&](local_id, code, const transition&) { ++known[1]; });
      EXPECT_EQ(known[0], known[1]) << id << " process " << p;
      EXPECT_EQ(full->locals(p), reduced->locals(p)) << id << " process " << p;
    }
  }
}

TEST(Verdicts, ALockBitLetsOneStarve) {
  auto p = toy<toys::lock_bit>(2, 1);
  const check_result r = check_all(*p, 0);
  EXPECT_EQ(verdict_of(r, "k-exclusion", *p), verdict::holds);
  EXPECT_EQ(verdict_of(r, "deadlock-free", *p), verdict::holds);
  EXPECT_EQ(verdict_of(r, "starvation-free", *p), verdict::violated);
  EXPECT_EQ(verdict_of(r, "bounded-exit", *p), verdict::holds);
}

TEST(Verdicts, AnOverfullTurnstileIsNoticedInAsManySteps) {
  auto p = toy<toys::turnstile>(5, 2);
  const check_result r = check_all(*p, 0);
  EXPECT_EQ(verdict_of(r, "k-exclusion", *p), verdict::violated);
  EXPECT_EQ(r.properties[0].counterexample->schedule.size(), 3U) << "three processes go in";
  EXPECT_EQ(verdict_of(r, "starvation-free", *p), verdict::undecided) << "not explored beyond the violation";
}

TEST(Verdicts, PoliteProcessesNeedNeverEnter) {
  auto p = toy<toys::after_you>(2, 1);
  const check_result r = check_all(*p, 0);
  EXPECT_EQ(verdict_of(r, "k-exclusion", *p), verdict::holds);
  EXPECT_EQ(verdict_of(r, "deadlock-free", *p), verdict::violated) << "busy in vain";
  EXPECT_EQ(verdict_of(r, "starvation-free", *p), verdict::violated);
}

TEST(Verdicts, ALingererNeedNeverLeave) {
  auto p = toy<toys::lingerer>(2, 2);
  const check_result r = check_all(*p, 0);
  EXPECT_TRUE(has_cycle_in(*p, region::exit));
  EXPECT_EQ(verdict_of(r, "bounded-exit", *p), verdict::violated);
}

TEST(Verdicts, ABatonStarvesThoseAfterTheIdle) {
  // A process that waits for its turn has not left its remainder before the turn comes, so nobody is ever in its entry.
  auto p = toy<toys::round_robin>(3, 1);
  const check_result r = check_all(*p, 0);
  EXPECT_EQ(verdict_of(r, "k-exclusion", *p), verdict::holds);
  EXPECT_EQ(verdict_of(r, "starvation-free", *p), verdict::holds);
}

TEST(Verdicts, ExitStepsAreCounted) {
  auto p = from_catalog("am97-chain-cc", 3, 1);
  const check_result r = check_all(*p, 0);
  ASSERT_EQ(verdict_of(r, "bounded-exit", *p), verdict::holds);
  EXPECT_EQ(exit_steps_max(*p), 4) << "statements 7 and 8 at each of two levels";
}

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

TEST(Limits, EndInUndecided) {
  auto p = from_catalog("am97-chain-cc", 5, 2);
  check_request request;
  request.of = {"am97-chain-cc", 5, 2, 0, {}};
  request.properties = {"k-exclusion", "deadlock-free", "starvation-free", "bounded-exit"};
  request.crashes = 1;
  request.limits.memory_max = 4 << 20;
  const check_result r = check(*p, request);
  EXPECT_FALSE(r.complete);
  EXPECT_EQ(r.why, "memory limit reached");
  EXPECT_EQ(r.overall(), verdict::undecided);
  for (const property_result& one : r.properties) EXPECT_EQ(one.is, verdict::undecided) << one.name;
}

TEST(Limits, AnInterruptionEndsInUndecided) {
  auto p = from_catalog("am97-chain-cc", 5, 2);
  const std::atomic<bool> interrupted{true};
  run_limits limits;
  limits.interrupted = &interrupted;
  const exploration e = explore(*p, {}, limits);
  EXPECT_FALSE(e.complete);
  EXPECT_EQ(e.why, "interrupted");
}

TEST(Rmr, ABusyWaitOnTheLockBitIsUnbounded) {
  auto p = toy<toys::lock_bit>(2, 1);
  for (const memory_model m : {memory_model::cc, memory_model::dsm}) {
    const rmr_result r = worst_rmr(*p, {m, true}, 0, {});
    EXPECT_TRUE(r.complete);
    EXPECT_TRUE(r.unbounded) << to_string(m);
  }
  const rmr_result alone = worst_rmr(*p, {memory_model::cc, true}, 1, {});
  EXPECT_FALSE(alone.unbounded);
  EXPECT_EQ(alone.worst, 2);
  EXPECT_EQ(alone.labels, (std::vector<std::string>{"1", "3"}));
}

TEST(Rmr, WriteBackKeepsTheLine) {
  // Alone, the second passage finds the line where the first left it; but the first has to fetch it.
  auto p = toy<toys::turnstile>(1, 1);
  EXPECT_EQ(worst_rmr(*p, {memory_model::cc_writeback, true}, 0, {}).worst, 1);
  EXPECT_EQ(worst_rmr(*p, {memory_model::cc, true}, 0, {}).worst, 2);
}

TEST(Audit, FindsAForgottenLiveValue) {
  auto p = toy<toys::forgetful>(3, 3);
  EXPECT_NE(audit(*p, {}).difference, "");
}

TEST(Audit, FindsNothingInTheCatalogue) {
  for (const catalog::row* row : algorithm_rows()) {
    for (const bool with_names : {false, true}) {
      const catalog::choice algorithm{row, with_names};
      for (const auto& [N, k] : {std::pair{3, 1}, std::pair{4, 2}, std::pair{5, 3}}) {
        if (!catalog::limits_error(*row, N, k).empty()) continue;
        program_options options;
        options.passages = row->bounded_variables ? 0 : 3;
        program p(make_model(algorithm, N, k), N, k, options);
        EXPECT_EQ(audit(p, {.seed = static_cast<std::uint64_t>(N), .walks = 6, .steps = 300}).difference, "")
            << algorithm.id();
      }
    }
  }
}

TEST(Mutations, AreReadAsTheyAreWritten) {
  for (const char* text : {"drop:8", "defer:7", "force:4=-1"}) EXPECT_EQ(mutation::parse(text).text(), text);
  for (const char* bad : {"", "drop", "drop:", "force:4", "force:=1", "force:4=", "force:4=x", "swap:1"})
    EXPECT_THROW(mutation::parse(bad), std::invalid_argument) << bad;
}

}  // namespace
}  // namespace kgate::lab
