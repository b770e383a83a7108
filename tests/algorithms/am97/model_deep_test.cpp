// SPDX-License-Identifier: Apache-2.0
// The larger cases: minutes and gigabytes.

#include "algorithms/am97/model_check.hpp"

namespace kgate::lab {
namespace {

class Am97Deep : public testing::TestWithParam<size_case> {};
TEST_P(Am97Deep, HoldsAllItPromises) { expect_all_hold(GetParam(), all_properties()); }
INSTANTIATE_TEST_SUITE_P(Deep, Am97Deep,
                         testing::Values(size_case{"am97-chain-cc", 5, 3}, size_case{"am97-fastpath-nested-cc", 5, 3},
                                         size_case{"am97-fastpath-tree-dsm", 4, 2},
                                         size_case{"am97-fastpath-tree-dsm-small", 3, 1}),
                         case_name);

/// Figure 9 at (4,2): half a billion states and more, of which those that differ by renaming processes are stored once.
/// The last takes 11 GB.
struct symmetric_case {
  size_case of;
  std::uint64_t stored, states;
};
std::ostream& operator<<(std::ostream& out, const symmetric_case& c) { return out << c.of; }
class Am97BySymmetry : public testing::TestWithParam<symmetric_case> {};
TEST_P(Am97BySymmetry, HoldsAllItPromises) {
  const size_case& c = GetParam().of;
  program p(make_model(find_algorithm(c.id), c.N, c.k), c.N, c.k, {});
  check_request request;
  request.of = {c.id, c.N, c.k, 0, {}};
  request.properties = all_properties();
  request.crashes = c.k - 1;
  request.symmetry = true;
  request.limits.threads = 2;
  request.limits.memory_max = std::uint64_t{20} << 30;
  const check_result r = check(p, request);
  EXPECT_TRUE(r.complete) << c << ": " << r.why;
  EXPECT_EQ(r.states, GetParam().stored) << c;
  EXPECT_EQ(r.orbit_states, GetParam().states) << c;
  for (const property_result& one : r.properties)
    EXPECT_EQ(one.is, verdict::holds) << c << ": " << one.name << ' ' << one.why;
}
INSTANTIATE_TEST_SUITE_P(
    Deep, Am97BySymmetry,
    testing::Values(symmetric_case{{"am97-chain-dsm-small", 4, 2}, 23'695'955, 563'551'244},
                    symmetric_case{
                        {"am97-tree-dsm-small", 4, 2}, 23'695'955, 563'551'244},  // a tree of one block: the chain
                    symmetric_case{{"am97-fastpath-nested-dsm-small", 4, 2}, 55'876'475, 1'335'566'180},
                    symmetric_case{{"am97-fastpath-tree-dsm-small", 4, 2}, 371'809'361, 8'905'389'836}),
    [](const auto& it) {
      return case_name({it.param.of, it.index});
    });

}  // namespace
}  // namespace kgate::lab
