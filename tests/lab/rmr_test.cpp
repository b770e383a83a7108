// SPDX-License-Identifier: Apache-2.0
// Remote memory references: the papers' figures over all schedules, and bounds that no schedule may exceed.

#include <gtest/gtest.h>

#include "lab/experiments/rmr_table.hpp"
#include "lab/models/models.hpp"
#include "lab/rmr/worst_case.hpp"

namespace kgate::lab {
namespace {

struct figure {
  const char* algorithm;
  int N, k;
  memory_model model;
  int contention;
  int worst;  ///< exactly; -1: unbounded
};
std::ostream& operator<<(std::ostream& out, const figure& f) {
  return out << f.algorithm << " N=" << f.N << " k=" << f.k << ' ' << to_string(f.model) << " c=" << f.contention;
}

class ExactFigure : public testing::TestWithParam<figure> {};

TEST_P(ExactFigure, IsTheWorstOverAllSchedules) {
  const figure& f = GetParam();
  const rmr_measurement m = measure_rmr(find_algorithm(f.algorithm), f.N, f.k, {f.model, true}, f.contention, 0, {});
  ASSERT_TRUE(m.exhaustive) << f << m.why;
  EXPECT_EQ(m.unbounded, f.worst < 0) << f;
  if (f.worst >= 0) {
    EXPECT_EQ(m.worst, f.worst) << f;
    EXPECT_EQ(m.labels.size(), static_cast<std::size_t>(m.worst)) << "one label for each reference";
  }
  EXPECT_TRUE(m.within()) << f << ": bound " << m.bound;
}

INSTANTIATE_TEST_SUITE_P(Am97, ExactFigure,
                         testing::Values(figure{"am97-chain-cc", 2, 1, memory_model::cc, 0, 7},
                                         figure{"am97-chain-cc", 3, 2, memory_model::cc, 0, 7},
                                         figure{"am97-chain-cc", 3, 1, memory_model::cc, 0, 14},
                                         figure{"am97-chain-cc", 4, 2, memory_model::cc, 0, 14},
                                         figure{"am97-chain-cc", 3, 1, memory_model::cc_copy, 0, 12},
                                         figure{"am97-chain-cc", 3, 1, memory_model::dsm, 0, -1},
                                         figure{"am97-chain-dsm", 2, 1, memory_model::dsm, 0, 9},
                                         figure{"am97-chain-dsm", 3, 2, memory_model::dsm, 0, 9},
                                         figure{"am97-chain-dsm", 3, 1, memory_model::dsm, 0, 18},
                                         figure{"am97-chain-dsm-small", 2, 1, memory_model::dsm, 0, 10},
                                         figure{"am97-chain-dsm-small", 3, 2, memory_model::dsm, 0, 10},
                                         figure{"am97-chain-dsm-small", 3, 1, memory_model::dsm, 0, 20},
                                         figure{"am97-fastpath-nested-cc", 4, 1, memory_model::cc, 1, 5},
                                         figure{"am97-fastpath-nested-cc", 4, 1, memory_model::cc, 2, 13},
                                         figure{"am97-fastpath-nested-cc", 4, 1, memory_model::cc, 3, 19},
                                         figure{"am97-fastpath-nested-dsm", 3, 1, memory_model::dsm, 2, 15},
                                         figure{"am97-fastpath-nested-dsm-small", 3, 1, memory_model::dsm, 2, 15},
                                         // Corollary 1 as printed says 23; lemma 1 says 24.
                                         figure{"am97-fastpath-tree-cc+names", 3, 1, memory_model::cc, 0, 24},
                                         figure{"fa-semaphore", 3, 1, memory_model::cc, 0, -1}),
                         [](const auto& it) {
                           std::string name = std::string(it.param.algorithm) + "_N" + std::to_string(it.param.N) +
                                              "_k" + std::to_string(it.param.k) + "_" +
                                              std::string(to_string(it.param.model)) + "_c" +
                                              std::to_string(it.param.contention);
                           for (char& c : name)
                             if (c == '-' || c == '+') c = '_';
                           return name;
                         });

/// Every theorem and corollary, in its case alone and at contention: nothing found exceeds its bound.
TEST(Bounds, HoldForAllTheoremsAndCorollaries) {
  rmr_table_options options;
  options.states_bytes_max = 16 << 20;
  options.seconds_max = 1;
  options.sampled_N_max = 32;
  options.sampled_steps = 60'000;
  const std::vector<rmr_claim_row> rows = rmr_table(options);
  std::vector<std::string> sources;
  for (const rmr_claim_row& row : rows) {
    sources.push_back(row.source);
    int exhaustive = 0;
    for (const rmr_measurement& m : row.measured) {
      EXPECT_TRUE(m.within()) << row.source << ' ' << row.algorithm.id() << " N=" << m.N << " k=" << m.k
                              << " c=" << m.contention << ": " << m.worst << " > " << m.bound;
      exhaustive += m.exhaustive;
    }
    EXPECT_GT(exhaustive, 0) << row.source;
  }
  for (int i = 1; i <= 12; ++i)
    EXPECT_TRUE(std::find(sources.begin(), sources.end(), "theorem " + std::to_string(i)) != sources.end()) << i;
  for (int i = 1; i <= 6; ++i)
    EXPECT_TRUE(std::find(sources.begin(), sources.end(), "corollary " + std::to_string(i)) != sources.end()) << i;
}

/// The schedules find what the search finds, where both can look: they are worth something beyond.
TEST(Schedules, ReachTheWorstCaseOfSmallSystems) {
  for (const auto& [id, model, worst] : {std::tuple{"am97-chain-cc", memory_model::cc, 7},
                                         {"am97-chain-dsm", memory_model::dsm, 9},
                                         {"am97-chain-dsm-small", memory_model::dsm, 10}})
    EXPECT_EQ(sample_rmr(find_algorithm(id), 2, 1, {model, true}, 0, 200'000).worst, worst) << id;
}

}  // namespace
}  // namespace kgate::lab
