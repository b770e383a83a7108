// SPDX-License-Identifier: Apache-2.0

/// The properties P1-P6 of Choi's wait and release sets, for every k to 128, and where the printed reading breaks them.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "kgate/algorithms/choi11.hpp"
#include "kgate/algorithms/choi11_sets.hpp"

namespace kgate::choi11 {
namespace {

constexpr int k_max = 128;
constexpr int none = -1;

struct sets {
  sets(int block, set_reading reading) : k(block) {
    for (int j = 0; j < k; ++j) {
      wait.push_back(wait_set(j, k, reading));
      release.push_back(release_set(j, k, reading));
    }
  }
  /// min(Wait-Set(i) and Release-Set(j)), or none.
  int meeting(int i, int j) const {
    for (const int slot : wait[static_cast<std::size_t>(i)])
      if (release[static_cast<std::size_t>(j)].contains(slot)) return slot;
    return none;
  }
  int k;
  std::vector<slot_set> wait;
  std::vector<slot_set> release;
};

std::vector<int> list(const slot_set& set) { return {set.begin(), set.end()}; }

TEST(choi11_sets, the_example_of_figure_3) {
  EXPECT_EQ(list(wait_set(11, 33)), (std::vector{11, 12, 16, 32}));
  EXPECT_EQ(list(release_set(19, 33)), (std::vector{0, 16, 18, 19}));
  EXPECT_EQ(sets(33, {}).meeting(11, 19), 16);
}

TEST(choi11_sets, p1_p2_p3_slots_lie_in_the_block_and_on_the_right_side) {
  for (int k = 1; k <= k_max; ++k) {
    const sets all(k, {});
    for (int j = 0; j < k; ++j) {
      for (const int w : all.wait[static_cast<std::size_t>(j)]) EXPECT_TRUE(j <= w && w < k) << "k=" << k << " j=" << j;
      for (const int r : all.release[static_cast<std::size_t>(j)])
        EXPECT_TRUE(0 <= r && r <= j) << "k=" << k << " j=" << j;
    }
  }
}

TEST(choi11_sets, p4_a_waiter_meets_every_leaver_at_or_after_it) {
  for (int k = 1; k <= k_max; ++k) {
    const sets all(k, {});
    for (int j = 0; j < k; ++j)
      for (int i = 0; i <= j; ++i) EXPECT_NE(all.meeting(i, j), none) << "k=" << k << " i=" << i << " j=" << j;
  }
}

TEST(choi11_sets, p5_earlier_waiters_meet_a_leaver_no_later) {
  for (int k = 1; k <= k_max; ++k) {
    const sets all(k, {});
    for (int j = 0; j < k; ++j)
      for (int i = 1; i <= j; ++i)
        EXPECT_LE(all.meeting(i - 1, j), all.meeting(i, j)) << "k=" << k << " i=" << i << " j=" << j;
  }
}

TEST(choi11_sets, p6_sizes_are_logarithmic_and_reached) {
  for (int k = 1; k <= k_max; ++k) {
    const sets all(k, {});
    const auto length = static_cast<std::size_t>(std::ceil(std::log2(k)));
    std::size_t wait_largest = 0;
    std::size_t release_largest = 0;
    for (int j = 0; j < k; ++j) {
      wait_largest = std::max(wait_largest, all.wait[static_cast<std::size_t>(j)].size());
      release_largest = std::max(release_largest, all.release[static_cast<std::size_t>(j)].size());
    }
    EXPECT_LE(wait_largest, length + 2) << "k=" << k;
    EXPECT_LE(release_largest, length + 1) << "k=" << k;
    if ((k & (k - 1)) == 0) {
      EXPECT_EQ(release_largest, length + 1) << "k=" << k;
      if (k >= 4) {
        EXPECT_EQ(wait_largest, length + 2) << "k=" << k;
      }
    }
  }
}

TEST(choi11_sets, as_printed_p4_fails_at_zero_and_only_there) {
  for (int k = 2; k <= k_max; ++k) {
    const sets printed(k, {.waits_on_own_slot = false});
    for (int j = 0; j < k; ++j)
      for (int i = 0; i <= j; ++i)
        EXPECT_EQ(printed.meeting(i, j) == none, i == 0 && j == 0) << "k=" << k << " i=" << i << " j=" << j;
  }
}

TEST(choi11_sets, lemma_1_is_false_as_printed_and_with_own_slots) {
  for (const bool own : {false, true}) {
    const sets all(4, {.waits_on_own_slot = own});
    int shared = 0;
    for (const int slot : all.wait[0]) shared += all.release[3].contains(slot) ? 1 : 0;
    EXPECT_EQ(shared, own ? 3 : 2) << "2 and 3, and 0 where a waiter watches its own slot";
  }
}

TEST(choi11_sets, with_the_printed_pattern_length_p4_fails_for_every_k_from_2) {
  for (int k = 2; k <= k_max; ++k) {
    const sets printed(k, {.full_length = false});
    int apart = 0;
    for (int j = 0; j < k; ++j)
      for (int i = 0; i <= j; ++i) apart += printed.meeting(i, j) == none;
    EXPECT_GT(apart, 0) << "k=" << k;
  }
}

TEST(choi11_blocks, at_least_three_and_room_for_all) {
  for (int k = 1; k <= k_max; ++k)
    for (int n = 1; n <= 3 * k_max; ++n) {
      const int corrected = blocks(n, k, reading{});
      EXPECT_GE(corrected, 3);
      EXPECT_GE(corrected * k, n);
      const int amortized = blocks(n, k, reading{.amortized = true});
      EXPECT_GE(amortized, corrected);
      EXPECT_GE(amortized * k * std::log2(k), static_cast<double>(k) * n * (k > 1)) << "k=" << k << " n=" << n;
    }
  EXPECT_EQ(blocks(4, 3, reading{.blocks_min = 1}), 2);
}

}  // namespace
}  // namespace kgate::choi11
