// SPDX-License-Identifier: Apache-2.0
#include "catalog/catalog.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>

namespace {

using namespace kgate::catalog;

/// The number claimed for the algorithm, or -1 if none is.
rmr_count claimed(const char* id, rmr_model model, int N, int k, int c) {
  const auto claim = rmr_claimed(find(id), model, N, k, c);
  return claim ? claim->count : -1;
}
std::string formula(const char* id, rmr_model model, int N, int k, int c) {
  const auto claim = rmr_claimed(find(id), model, N, k, c);
  return claim ? claim->formula : "none";
}

TEST(catalog, rows_are_complete_and_distinct) {
  std::set<std::string_view> ids;
  for (const row* one : rows) {
    EXPECT_TRUE(ids.insert(one->id).second) << one->id << " appears twice";
    EXPECT_FALSE(one->title.empty()) << one->id;
    EXPECT_FALSE(one->paper.empty()) << one->id;
    EXPECT_FALSE(one->figure.empty()) << one->id;
    EXPECT_FALSE(one->headers[0].empty()) << one->id;
    for (const std::string_view header : one->headers) {
      EXPECT_TRUE(std::filesystem::exists(std::string(KGATE_ALGORITHMS_DIR "/") + std::string(header)))
          << one->id << " names " << header;
    }
    EXPECT_FALSE(one->promise.starvation_free && !one->promise.deadlock_free) << one->id;
  }
}

TEST(catalog, for_each_visits_the_rows_in_order) {
  std::size_t at = 0;
  for_each([&](const row& one, auto) { EXPECT_EQ(&one, rows.at(at++)); });
  EXPECT_EQ(at, rows.size());
}

TEST(catalog, for_each_native_leaves_out_what_is_not_native) {
  std::set<std::string_view> native, visited;
  for (const row* one : rows)
    if (one->native) native.insert(one->id);
  for_each_native([&](const row& one, auto) { visited.insert(one.id); });
  EXPECT_EQ(visited, native);
  EXPECT_LT(visited.size(), rows.size());
}

TEST(catalog, has_every_shape_of_anderson_and_moir) {
  for (const char* shape : {"chain", "tree", "fastpath-tree", "fastpath-nested"})
    for (const char* block : {"cc", "dsm", "dsm-small"})
      EXPECT_TRUE(find(std::string("am97-") + shape + "-" + block)) << shape << " " << block;
  for (const char* id : {"am97-queue", "fa-semaphore", "flbb79-count", "peterson-k", "mcs"})
    EXPECT_TRUE(find(id)) << id;
}

TEST(catalog, finds_ids_with_and_without_names) {
  const choice plain_one = find("am97-tree-dsm"), named = find("am97-tree-dsm+names");
  ASSERT_TRUE(plain_one && named);
  EXPECT_EQ(plain_one.base, named.base);
  EXPECT_EQ(plain_one.id(), "am97-tree-dsm");
  EXPECT_EQ(named.id(), "am97-tree-dsm+names");
  EXPECT_FALSE(plain_one.promise().names);
  EXPECT_TRUE(named.promise().names);
  EXPECT_EQ(to_string(find("am97-chain-cc+names").primitives()), "fetch-and-add, test-and-set");
  EXPECT_EQ(to_string(find("peterson-k").primitives()), "reads and writes");
  for (const char* unknown : {"", "+names", "am97", "am97-tree-dsm+names+names", "AM97-tree-dsm"})
    EXPECT_FALSE(find(unknown)) << unknown;
}

TEST(catalog, limits_name_what_is_allowed) {
  const row& chain = *find("am97-chain-cc").base;
  for (const auto& [N, k] : {std::pair{1, 1}, {2, 1}, {5, 5}, {65535, 1}}) EXPECT_EQ(limits_error(chain, N, k), "");
  EXPECT_EQ(limits_error(chain, 3, 0), "am97-chain-cc needs k >= 1 and k <= N <= 65535, but N = 3 and k = 0");
  for (const auto& [N, k] : {std::pair{0LL, 1LL}, {3LL, 4LL}, {-1LL, -1LL}, {65536LL, 1LL}, {1LL << 40, 1LL}})
    EXPECT_NE(limits_error(chain, N, k), "") << N << " " << k;

  const row& queue = *find("am97-queue").base;
  EXPECT_EQ(limits_error(queue, 13, 13), "");
  EXPECT_EQ(limits_error(queue, 14, 2), "am97-queue needs k >= 1 and k <= N <= 13, but N = 14 and k = 2");

  const row& mcs = *find("mcs").base;
  EXPECT_EQ(limits_error(mcs, 100, 1), "");
  EXPECT_EQ(limits_error(mcs, 4, 2), "mcs needs k = 1 and k <= N <= 65535, but N = 4 and k = 2");
}

TEST(catalog, crashes_allowed_for) {
  EXPECT_EQ(crashes_max(find("am97-chain-cc").promise(), 5, 3), 2);
  EXPECT_EQ(crashes_max(find("am97-chain-cc").promise(), 5, 1), 0);
  EXPECT_EQ(crashes_max(find("peterson-k").promise(), 5, 3), 0);
  EXPECT_EQ(crashes_max({.despite = crashes::any}, 5, 3), 4);
}

// Hand-computed from the theorems.
TEST(catalog, bounds_of_theorems_1_to_12) {
  using enum rmr_model;
  EXPECT_EQ(claimed("am97-chain-cc", cc, 4, 2, 4), 14);
  EXPECT_EQ(claimed("am97-chain-cc", dsm, 4, 2, 4), unbounded);
  EXPECT_EQ(claimed("am97-chain-dsm", dsm, 4, 2, 4), 18);
  EXPECT_EQ(claimed("am97-chain-dsm", cc, 4, 2, 4), -1);
  EXPECT_EQ(claimed("am97-chain-dsm-small", dsm, 4, 2, 4), 20);
  EXPECT_EQ(claimed("am97-chain-cc", cc, 3, 3, 3), 0);

  // ceil(log2(N/k)): 8/2 -> 2, 9/2 -> 3, 64/3 -> 5, 3/2 -> 1
  EXPECT_EQ(claimed("am97-tree-cc", cc, 8, 2, 8), 28);
  EXPECT_EQ(claimed("am97-tree-cc", cc, 9, 2, 9), 42);
  EXPECT_EQ(claimed("am97-tree-dsm", dsm, 64, 3, 64), 135);
  EXPECT_EQ(claimed("am97-tree-dsm-small", dsm, 3, 2, 3), 20);

  EXPECT_EQ(claimed("am97-fastpath-tree-cc", cc, 8, 2, 1), 9);
  EXPECT_EQ(claimed("am97-fastpath-tree-cc", cc, 8, 2, 2), 36);
  EXPECT_EQ(claimed("am97-fastpath-tree-dsm", dsm, 8, 2, 1), 11);
  EXPECT_EQ(claimed("am97-fastpath-tree-dsm", dsm, 8, 2, 8), 46);
  EXPECT_EQ(claimed("am97-fastpath-tree-dsm-small", dsm, 8, 2, 1), 12);
  EXPECT_EQ(claimed("am97-fastpath-tree-dsm-small", dsm, 8, 2, 8), 51);

  for (const int c : {1, 2, 3}) {
    EXPECT_EQ(claimed("am97-fastpath-nested-cc", cc, 8, 2, c), 8 * c + 1);
    EXPECT_EQ(claimed("am97-fastpath-nested-dsm", dsm, 8, 2, c), 10 * c + 1);
    EXPECT_EQ(claimed("am97-fastpath-nested-dsm-small", dsm, 8, 2, c), 11 * c + 1);
  }
  EXPECT_EQ(formula("am97-fastpath-tree-cc", cc, 8, 2, 1), "9");
  EXPECT_EQ(formula("am97-fastpath-tree-cc", cc, 8, 2, 8), "7k ceil(log2(N/k)) + 8");
}

TEST(catalog, bounds_of_the_corollaries_and_baselines) {
  using enum rmr_model;
  // Corollaries 1, 3, 5: 11, 13 and 14 alone. Corollaries 2, 4, 6: 9c+2, 11c+2, 12c+2.
  EXPECT_EQ(claimed("am97-fastpath-tree-cc+names", cc, 8, 2, 1), 11);
  EXPECT_EQ(claimed("am97-fastpath-tree-dsm+names", dsm, 8, 2, 1), 13);
  EXPECT_EQ(claimed("am97-fastpath-tree-dsm-small+names", dsm, 8, 2, 1), 14);
  EXPECT_EQ(claimed("am97-fastpath-tree-cc+names", cc, 8, 2, 8), 39);
  EXPECT_EQ(formula("am97-fastpath-tree-cc+names", cc, 8, 2, 8), "7k ceil(log2(N/k)) + 8 + k+1");
  for (const int c : {1, 2, 3}) {
    EXPECT_EQ(claimed("am97-fastpath-nested-cc+names", cc, 8, 2, c), 9 * c + 2);
    EXPECT_EQ(claimed("am97-fastpath-nested-dsm+names", dsm, 8, 2, c), 11 * c + 2);
    EXPECT_EQ(claimed("am97-fastpath-nested-dsm-small+names", dsm, 8, 2, c), 12 * c + 2);
  }
  EXPECT_EQ(claimed("am97-chain-cc+names", dsm, 4, 2, 4), unbounded) << "names do not make it bounded";

  EXPECT_EQ(claimed("fa-semaphore", cc, 3, 1, 3), unbounded);
  EXPECT_EQ(claimed("flbb79-count", dsm, 3, 1, 3), unbounded);
  EXPECT_EQ(claimed("peterson-k", cc, 3, 1, 3), -1) << "only an order of growth is known";
  EXPECT_EQ(claimed("peterson-k", dsm, 3, 1, 3), unbounded);
  EXPECT_EQ(claimed("mcs", dsm, 64, 1, 64), 4);
}

}  // namespace
