// SPDX-License-Identifier: Apache-2.0
// Every shape of Anderson & Moir, all properties, passages without limit, at most k-1 crashes.

#include "algorithms/am97/model_check.hpp"

namespace kgate::lab {
namespace {

std::vector<size_case> quick_cases() {
  std::vector<size_case> cases;
  for (const char* shape : {"am97-chain-", "am97-tree-", "am97-fastpath-tree-", "am97-fastpath-nested-"})
    for (const char* block : {"cc", "dsm", "dsm-small"})
      for (const auto& [N, k] : {std::pair{2, 1}, {3, 1}, {3, 2}, {4, 2}}) {
        const std::string id = std::string(shape) + block;
        // Figure 9 at (4,2), and with three blocks at (3,1), and the trees of figure 6 with a fast path at (4,2): deep.
        if (id == "am97-fastpath-tree-dsm" && N == 4) continue;
        if (id.ends_with("small") && (N == 4 || (id == "am97-fastpath-tree-dsm-small" && k == 1 && N == 3))) continue;
        cases.push_back({id, N, k});
      }
  for (const char* id : {"am97-fastpath-tree-cc+names", "am97-fastpath-nested-cc+names", "am97-fastpath-tree-dsm+names",
                         "am97-fastpath-nested-dsm+names", "am97-fastpath-tree-dsm-small+names",
                         "am97-fastpath-nested-dsm-small+names"}) {
    cases.push_back({id, 2, 1});
    cases.push_back({id, 3, 2});
  }
  cases.push_back({"am97-queue", 4, 2});
  cases.push_back({"am97-queue", 5, 3});
  return cases;
}

class Am97 : public testing::TestWithParam<size_case> {};
TEST_P(Am97, HoldsAllItPromises) { expect_all_hold(GetParam(), all_properties()); }
INSTANTIATE_TEST_SUITE_P(Quick, Am97, testing::ValuesIn(quick_cases()), case_name);

/// One crash too many is not survived, and a run shows it.
TEST(Crashes, KOfThemStopEverything) {
  for (const char* id :
       {"am97-chain-cc", "am97-chain-dsm", "am97-chain-dsm-small", "am97-tree-cc", "am97-fastpath-nested-cc"}) {
    const catalog::choice algorithm = find_algorithm(id);
    program p(make_model(algorithm, 3, 2), 3, 2, {});
    check_request request;
    request.of = {id, 3, 2, 0, {}};
    request.properties = {"starvation-free"};
    request.crashes = 2;
    const check_result r = check(p, request);
    ASSERT_EQ(r.properties[0].is, verdict::violated) << id;
    EXPECT_EQ(validate(*r.properties[0].counterexample, p), "") << id;
    EXPECT_EQ(r.properties[0].counterexample->crashed.size(), 2U) << id;
  }
}

struct baseline {
  const char* id;
  int N, k, crashes;
  const char* property;
  verdict expected;
};

TEST(Baselines, BreakWhatTheyAreKnownToBreakAndNothingElse) {
  for (const baseline& b : {baseline{"fa-semaphore", 3, 2, 1, "k-exclusion", verdict::holds},
                            baseline{"fa-semaphore", 3, 2, 1, "deadlock-free", verdict::holds},
                            baseline{"fa-semaphore", 3, 2, 0, "starvation-free", verdict::violated},
                            baseline{"flbb79-count", 3, 2, 1, "deadlock-free", verdict::holds},
                            baseline{"flbb79-count", 3, 2, 0, "starvation-free", verdict::violated},
                            baseline{"peterson-k", 3, 2, 0, "k-exclusion", verdict::holds},
                            baseline{"peterson-k", 3, 2, 0, "starvation-free", verdict::holds},
                            baseline{"peterson-k", 3, 2, 1, "starvation-free", verdict::violated},
                            baseline{"mcs", 3, 1, 0, "k-exclusion", verdict::holds},
                            baseline{"mcs", 3, 1, 0, "starvation-free", verdict::holds},
                            baseline{"mcs", 3, 1, 0, "bounded-exit", verdict::violated}}) {
    program p(make_model(find_algorithm(b.id), b.N, b.k), b.N, b.k, {});
    check_request request;
    request.of = {b.id, b.N, b.k, 0, {}};
    request.properties = {b.property};
    request.crashes = b.crashes;
    const check_result r = check(p, request);
    EXPECT_EQ(r.properties[0].is, b.expected) << b.id << ' ' << b.property << " with " << b.crashes << " crashes";
    if (r.properties[0].counterexample) {
      EXPECT_EQ(validate(*r.properties[0].counterexample, p), "") << b.id;
    }
  }
}

// Section 4.1 counts N - k + 1 bits.
TEST(Am97, NestedFastPathsHaveABitFewerThanBlocks) {
  for (const auto& [N, k] : {std::pair{3, 2}, {4, 2}, {5, 1}, {6, 2}}) {
    const program p(make_model(find_algorithm("am97-fastpath-nested-cc"), N, k), N, k, {});
    int bits = 0, blocks = 0;
    for (int v = 0; v < p.variables(); ++v) {
      bits += p.variable(v).name.starts_with("fast.X");
      blocks += p.variable(v).name.starts_with("X");
    }
    EXPECT_EQ(blocks, N - k);
    EXPECT_EQ(bits, N - k - 1);
  }
}

}  // namespace
}  // namespace kgate::lab
