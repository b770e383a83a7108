// SPDX-License-Identifier: Apache-2.0
// The larger cases: minutes and gigabytes.

#include "model/model_check.hpp"

namespace kgate::lab {
namespace {

class Am97Deep : public testing::TestWithParam<size_case> {};
TEST_P(Am97Deep, HoldsAllItPromises) { expect_all_hold(GetParam(), all_properties()); }
INSTANTIATE_TEST_SUITE_P(Deep, Am97Deep,
                         testing::Values(size_case{"am97-chain-cc", 5, 3}, size_case{"am97-chain-dsm", 4, 2},
                                         size_case{"am97-fastpath-tree-dsm-small", 3, 1}),
                         case_name);

class Am97DeepSafety : public testing::TestWithParam<size_case> {};
TEST_P(Am97DeepSafety, ExcludesAndDoesNotDeadlock) { expect_all_hold(GetParam(), {"k-exclusion", "deadlock-free"}); }
INSTANTIATE_TEST_SUITE_P(Deep, Am97DeepSafety,
                         testing::Values(size_case{"am97-fastpath-nested-cc", 5, 3}, size_case{"am97-fastpath-tree-dsm", 4, 2}),
                         case_name);

}  // namespace
}  // namespace kgate::lab
