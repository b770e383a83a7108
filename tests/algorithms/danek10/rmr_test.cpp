// SPDX-License-Identifier: Apache-2.0

/// Remote references of a passage of the k-bakeries: linear in N.

#include "algorithms/rmr.hpp"

#include "lab/experiments/rmr_growth.hpp"

namespace kgate::lab {
namespace {

int by_schedules(const char* id, int N, int k, const cost_model& cost) {
  return sample_rmr(find_algorithm(id), N, k, cost, 0, 6'000U * static_cast<unsigned>(N)).worst;
}

constexpr cost_model dsm{memory_model::dsm, true};
constexpr cost_model cc{memory_model::cc, true};

/// On DSM all waiting is local, and a passage costs the same whatever the others do: four, five or eleven references
/// for each other process (nine or eleven for figure 3, as line 45 is not always reached).
TEST(danek10_rmr, dsm_is_exactly_linear) {
  for (const auto& [id, each] :
       {std::pair{"danek10-kfcfs", 4}, {"danek10-fife", 5}, {"danek10-reset", 5}, {"danek10-nonatomic", 11}}) {
    EXPECT_EQ(over_all_schedules(id, 2, 1, 2, dsm).worst, each * 1) << id;
    EXPECT_EQ(over_all_schedules(id, 3, 2, 1, dsm).worst, each * 2) << id;
    for (const int N : {4, 8, 16}) EXPECT_EQ(by_schedules(id, N, 2, dsm), each * (N - 1)) << id << " N=" << N;
  }
}

/// On CC a waiter also reads what is announced to it, and again when it changes.
TEST(danek10_rmr, cc_is_linear) {
  for (const auto& [id, each] : {std::pair{"danek10-kfcfs", 8}, {"danek10-fife", 12}, {"danek10-nonatomic", 24}}) {
    EXPECT_LE(over_all_schedules(id, 2, 1, 2, cc).worst, each * 2) << id;
    EXPECT_LE(over_all_schedules(id, 3, 2, 1, cc).worst, each * 3) << id;
    for (const int N : {4, 8, 16}) {
      const int worst = by_schedules(id, N, 2, cc);
      EXPECT_LE(worst, each * N) << id << " N=" << N;
      EXPECT_GE(worst, 4 * (N - 1)) << id << " N=" << N;
    }
  }
}

}  // namespace
}  // namespace kgate::lab
