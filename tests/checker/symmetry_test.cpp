// SPDX-License-Identifier: Apache-2.0
// States reduced by symmetry: what is found is what the full search finds.

#include "lab/checker/explore/symmetry.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "checker/checked_programs.hpp"

namespace kgate::lab {
namespace {

struct wrong_case {
  const char* id;
  int N, k, crashes;
  const char* mutation;
};

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

}  // namespace
}  // namespace kgate::lab
