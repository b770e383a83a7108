// SPDX-License-Identifier: Apache-2.0
// The arithmetic of the packed word, each function against its meaning, over all values of a small word.
#include "kgate/algorithms/ticket_word.hpp"

#include <gtest/gtest.h>

namespace kgate {
namespace {

using L = ticket_word<std::uint16_t, 4>;
using word = L::word;
using named = ticket_word<std::uint16_t, 4, 3>;

constexpr word sum(word a, word b) { return static_cast<word>(a + b); }

TEST(TicketWord, TheMostQueuedFillTheCount) { EXPECT_EQ(sum(L::bias, L::permits_max), L::count_mask); }

TEST(TicketWord, OneOutIsTheCountWithOnePermitOut) {
  for (word k = 1; k <= L::permits_max; ++k) {
    EXPECT_EQ(L::one_out(k), L::C(sum(L::make(0, k), 1)));
    EXPECT_EQ(L::permits_of(L::one_out(k)), k);
    for (word out = 0; out <= k; ++out)
      for (word w = 1; w <= k; ++w) EXPECT_EQ(L::had_out(sum(L::make(7, k), out), L::one_out(k), w), out == w);
  }
}

TEST(TicketWord, WhoWaitsAndWhoIsAtTheFront) {
  for (const word first : {word{0}, word{5}, L::ticket_mask})
    for (word k = 1; k <= L::permits_max; ++k)
      for (word queued = 0; queued <= L::permits_max; ++queued) {
        const word v = sum(sum(L::make(first, k), k), queued);  // all permits out, and so many tickets behind them
        EXPECT_EQ(L::queued(v), queued);
        for (word i = 0; i < queued; ++i) {
          const word t = L::wrapped(sum(first, i));
          EXPECT_TRUE(L::waits(v, t));
          EXPECT_EQ(L::at_front(v, t), i == 0) << queued << " queued, " << i << " before it";
        }
        EXPECT_TRUE(L::at_front(v, L::next_ticket(v)) || queued > 0);
      }
}

TEST(TicketWord, OfTwoTicketsLessThanHalfOfAllApartTheEarlierIsBefore) {
  const word half = static_cast<word>(L::ticket_mask / 2);
  for (const word u : {word{0}, word{9}, L::ticket_mask}) {
    EXPECT_FALSE(L::before(u, u));
    for (word apart = 1; apart <= half; ++apart) {
      const word t = L::wrapped(sum(u, apart));
      EXPECT_TRUE(L::before(u, t)) << apart;
      EXPECT_FALSE(L::before(t, u)) << apart;
    }
  }
}

TEST(TicketWord, TheLowestNameIsOneOfTheNames) {
  for (int names = 1; names < 1 << named::names_max; ++names)
    for (word count = 0; count <= named::count_mask; ++count) {
      const word v = static_cast<word>(static_cast<word>(names << 4) | count);
      EXPECT_EQ(named::name_of(named::lowest_name(v)), std::countr_zero(static_cast<unsigned>(names)));
    }
}

TEST(TicketWord, WithoutTheLowestNameAllElseStays) {
  for (int names = 1; names < 1 << named::names_max; ++names)
    for (word count = 0; count <= named::count_mask; ++count)
      for (const word ticket : {word{0}, word{1}, named::ticket_mask}) {
        const word others = static_cast<word>(static_cast<word>(ticket * named::one_ticket) | count);
        const word v = static_cast<word>(others | static_cast<word>(names << 4));
        const int left = names & (names - 1);
        EXPECT_EQ(named::without_lowest_name(v), static_cast<word>(others | static_cast<word>(left << 4)));
      }
}

}  // namespace
}  // namespace kgate
