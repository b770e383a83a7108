// SPDX-License-Identifier: Apache-2.0
// The arithmetic of the coloured tickets, and T1-T3 with the FIFO order over all runs of small systems, as functions of
// V alone.

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "kgate/algorithms/flbb79_tickets.hpp"

namespace kgate::flbb79 {
namespace {

TEST(TicketWord, FieldsDoNotOverlap) {
  ticket_word v;
  v.set_issue(make_ticket(256, 10));
  v.set_valid(make_ticket(1, 3));
  for (int c = 1; c <= 10; ++c) v.add_quant(c, 1);
  EXPECT_EQ(v.issue(), make_ticket(256, 10));
  EXPECT_EQ(v.valid(), make_ticket(1, 3));
  for (int c = 1; c <= 10; ++c) EXPECT_EQ(v.quant(c, 10), 1);
  EXPECT_EQ(v.quant(0, 10), 0);
  v.add_quant(10, 9);
  EXPECT_EQ(v.quant(10, 10), 10);
  EXPECT_EQ(v.quant(9, 10), 1);
  v.set_issue(make_ticket(1, 0));
  EXPECT_EQ(v.valid(), make_ticket(1, 3));
  EXPECT_EQ(v.quant(1, 10), 1);
}

TEST(TicketOffice, TheFirstProcessTakesTheFirstTicketOfColourZero) {
  const ticket_office<> office(4, 2);
  const ticket_word v = office.issue(office.initial());
  EXPECT_EQ(v.issue(), make_ticket(1, 0)) << "Valid leads Issue = (N, k)";
  EXPECT_TRUE(office.is_valid(v, v.issue()));
}

TEST(TicketOffice, LeadsAcrossColours) {
  // N = 5, k = 2: Issue is at most 3 ahead, so with another colour it leads iff number + 2 <= the other's.
  EXPECT_TRUE(ticket_rules::issue_leads(make_ticket(3, 1), make_ticket(5, 0), 2));
  EXPECT_FALSE(ticket_rules::issue_leads(make_ticket(4, 1), make_ticket(5, 0), 2));
  EXPECT_FALSE(ticket_rules::issue_leads(make_ticket(5, 1), make_ticket(1, 0), 2)) << "Valid has passed N";
  EXPECT_FALSE(ticket_rules::issue_leads(make_ticket(3, 0), make_ticket(3, 0), 2)) << "they coincide";
}

TEST(TicketOffice, NewColourIsOneOfNoValidTicket) {
  const ticket_office<> office(3, 1);
  ticket_word v = office.initial();
  for (int round = 0; round < 7; ++round) {
    v = office.issue(v);
    const ticket t = v.issue();
    ASSERT_TRUE(office.is_valid(v, t));
    v = office.validate(v, t);
    ASSERT_EQ(v.quant(0, 1) + v.quant(1, 1), 1) << "T1";
  }
  EXPECT_EQ(v.issue(), make_ticket(1, 0)) << "colours 0, 1, 0 after 3 tickets each";
}

/// A random walk of N processes against the queue it stands for: at any time the first k in the order of arrival are
/// valid.
void walk(int N, int k, unsigned seed) {
  const ticket_office<> office(N, k);
  ticket_word v = office.initial();
  std::vector<ticket> queue;
  std::uint64_t random = seed;
  for (int step = 0; step < 20000; ++step) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    const auto dice = static_cast<std::size_t>(random >> 33);
    const std::size_t able = std::min(queue.size(), static_cast<std::size_t>(k));
    if (queue.size() < static_cast<std::size_t>(N) && (able == 0 || dice % 2 == 0)) {
      v = office.issue(v);
      for (const ticket t : queue) ASSERT_FALSE(t == v.issue()) << "T3";
      queue.push_back(v.issue());
    } else {
      const std::size_t leaver = dice / 2 % able;
      v = office.validate(v, queue[leaver]);
      queue.erase(queue.begin() + static_cast<std::ptrdiff_t>(leaver));
    }
    int valid = 0;
    for (int c = 0; c <= k; ++c) valid += v.quant(c, k);
    ASSERT_EQ(valid, k) << "T1";
    for (std::size_t i = 0; i < queue.size(); ++i)
      ASSERT_EQ(office.is_valid(v, queue[i]), i < static_cast<std::size_t>(k))
          << "N " << N << " k " << k << " step " << step;
  }
}
TEST(TicketOffice, ValidTicketsAreThoseOfTheFirstKQueued) {
  for (const auto& [N, k] : {std::pair{2, 1}, {3, 1}, {3, 2}, {5, 2}, {5, 4}, {8, 3}, {11, 10}, {40, 7}, {256, 10}})
    for (unsigned seed = 1; seed <= 5; ++seed) walk(N, k, seed);
}

}  // namespace
}  // namespace kgate::flbb79
