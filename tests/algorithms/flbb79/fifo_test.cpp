// SPDX-License-Identifier: Apache-2.0
// The short-name queue that completes lemma 4.5: its maps, its order, and under lemma 4.3 on random runs with crashes.

#include <gtest/gtest.h>

#include <deque>
#include <random>

#include "algorithms/flbb79/supervised_walk.hpp"
#include "kgate/algorithms/flbb79_fifo.hpp"

namespace kgate::flbb79 {
namespace {

TEST(ShortNames, TellAnyThreeNumbersApart) {
  for (std::uint8_t a = 0; a < 32; ++a)
    for (std::uint8_t b = 0; b < 32; ++b)
      for (std::uint8_t c = 0; c < 32; ++c) {
        if (a == b || b == c || a == c) continue;
        const auto map = name_map::of(std::array<std::uint8_t, 3>{a, b, c}, 3);
        ASSERT_EQ(map.short_of(a), 1);
        ASSERT_EQ(map.short_of(b), 2);
        ASSERT_EQ(map.short_of(c), 3);
      }
}

TEST(ShortNames, AreFewerThanTheNumbers) {
  std::vector<name_map> maps;
  for (std::uint8_t a = 0; a < 64; ++a)
    for (std::uint8_t b = 0; b < 64; ++b) {
      if (a == b) continue;
      const auto map = name_map::of(std::array<std::uint8_t, 2>{a, b}, 2);
      if (std::find(maps.begin(), maps.end(), map) == maps.end()) maps.push_back(map);
    }
  EXPECT_EQ(maps.size(), 12u) << "a position of six and a pattern of two";
}

/// The supervised system itself, with processes that step at random and some that stop: the first waiter enters.
void walk(int N, int l, int k, unsigned seed, bool crash) {
  const fifo_system system(N, l, k);
  fifo_value v = system.first_value();
  fifo_supervisor x = system.first_supervisor();
  std::vector<fifo_worker> w(static_cast<std::size_t>(N));
  std::vector<bool> down(static_cast<std::size_t>(N));
  std::deque<std::size_t> line_up;  // in the order of arrival, those inside included
  std::mt19937 random(seed);
  int failed = 0, entries = 0, conversations = 0;
  for (int i = 0; i < 60000; ++i) {
    const auto p = static_cast<std::size_t>(random() % static_cast<unsigned>(N + 4));
    if (p >= w.size()) {
      const bool talked = x.converses;
      const int t = system.transno(v, x);
      v = system.newval(v, x);
      x = system.newstate(x, t);
      conversations += x.converses && !talked;
      ASSERT_LE(v.enabled, l) << "F3";
      continue;
    }
    if (down[p]) continue;
    if (crash && failed < std::min(k, l) - 1 && i > 20000 && w[p].where == region::entry && random() % 20 == 0) {
      down[p] = true;
      ++failed;
      continue;
    }
    const region before = w[p].where;
    const bool helps = system.elig(v, w[p]) == eligibility::helper;
    system.work(v, w[p]);
    if (before == region::remainder) line_up.push_back(p);
    if (before == region::critical) line_up.erase(std::find(line_up.begin(), line_up.end(), p));
    if (before == region::entry && w[p].where == region::critical) {
      ++entries;
      ASSERT_FALSE(helps) << "R4";
      // All before it that are still waiting are enabled, so it is one of the first l queued.
      const auto position = std::find(line_up.begin(), line_up.end(), p) - line_up.begin();
      ASSERT_LT(position, l) << "FIFO enabling";
    }
    ASSERT_EQ(system.active(v, x),
              std::count_if(w.begin(), w.end(), [](const fifo_worker& each) { return each.where == region::entry; }))
        << "R5";
  }
  EXPECT_GT(entries, 15);
  if (N > l + 2 * k) {
    EXPECT_GT(conversations, 5) << "the run says nothing about conversations";
  }
}
TEST(ShortNameQueue, EnablesInTheOrderOfArrival) {
  struct size {
    int N, l, k;
  };
  for (const auto& [N, l, k] : {size{2, 1, 1},
                                {3, 1, 1},
                                {6, 1, 1},
                                {4, 2, 2},
                                {8, 2, 2},
                                {12, 2, 2},
                                {12, 3, 3},
                                {8, 3, 1},
                                {8, 1, 2},
                                {12, 2, 3}})
    for (unsigned seed = 1; seed <= 6; ++seed) {
      walk(N, l, k, seed, seed % 2 == 0);
      ASSERT_FALSE(HasFatalFailure()) << "N " << N << " l " << l << " k " << k << " seed " << seed;
    }
}

struct size {
  int N, l, k;
  long steps, waited_max;  ///< a generous bound: what is missed is a process that never enters
};
class QueueWithoutSupervisor : public testing::TestWithParam<size> {};
TEST_P(QueueWithoutSupervisor, SimulatesTheSystemWithOne) {
  const auto [N, l, k, steps, waited_max] = GetParam();
  long distributed = 0, handed_over = 0;
  for (const int rest : {1, 8}) {
    const auto account = supervised_walk<fifo_system>(N, l, k, 7).run(steps, k - 1, rest);
    ASSERT_FALSE(HasFatalFailure());
    EXPECT_GT(account.entries, 30);
    EXPECT_LT(account.waited_max, waited_max);
    distributed += account.distributed;
    handed_over += account.handed_over;
  }
  EXPECT_GT(distributed, 1000);
  EXPECT_GT(handed_over, 10);
}
TEST_P(QueueWithoutSupervisor, BearsHostileSchedules) {
  const auto [N, l, k, steps, waited_max] = GetParam();
  const auto account = supervised_walk<fifo_system>(N, l, k, 3).run(4 * steps, k - 1, 2, schedule::hostile);
  ASSERT_FALSE(HasFatalFailure());
  EXPECT_EQ(account.crashed, k - 1);
  EXPECT_GT(account.entries, 20);
  EXPECT_LT(account.waited_max, 5 * steps / 2) << "the crashes come after a third of the run";
}
INSTANTIATE_TEST_SUITE_P(Sizes, QueueWithoutSupervisor,
                         testing::Values(size{4, 1, 1, 100000, 30000}, size{8, 2, 2, 300000, 150000},
                                         size{12, 3, 3, 1000000, 600000}, size{8, 3, 1, 400000, 150000},
                                         size{10, 3, 2, 1000000, 600000}));

}  // namespace
}  // namespace kgate::flbb79
