// SPDX-License-Identifier: Apache-2.0
/// Numbers and durations as both programs take them.
#include "tools/common/numbers.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace kgate::tool {
namespace {

TEST(whole_numbers, are_taken_whole_or_not_at_all) {
  EXPECT_EQ(parse_whole_number("4095"), 4095);
  EXPECT_EQ(parse_whole_number("-3"), -3);
  EXPECT_EQ(parse_whole_number("0660", 8), 0660);
  EXPECT_EQ(parse_whole_number("99999999999999999999"), std::numeric_limits<long long>::max());
  for (const char* text : {"", " 4", "4 ", "4x", "+4", "0x10", "1e3", "--4"})
    EXPECT_FALSE(parse_whole_number(text)) << "'" << text << "'";
}

TEST(durations, have_units_from_days_to_milliseconds) {
  EXPECT_EQ(parse_seconds("90"), 90);
  EXPECT_EQ(parse_seconds("1.5s"), 1.5);
  EXPECT_EQ(parse_seconds("500ms"), 0.5);
  EXPECT_EQ(parse_seconds("10m"), 600);
  EXPECT_EQ(parse_seconds("2h"), 7200);
  EXPECT_EQ(parse_seconds("1d"), 86400);
  EXPECT_EQ(parse_seconds("0"), 0);
}

TEST(durations, may_have_several_parts_from_large_to_small) {
  EXPECT_EQ(parse_seconds("1h30m"), 5400);
  EXPECT_EQ(parse_seconds("1d2h3m4s"), 86400 + 7200 + 180 + 4);
  EXPECT_EQ(parse_seconds("1m500ms"), 60.5);
}

TEST(durations, are_nothing_else) {
  for (const char* text :
       {"", "h", "-1s", "1 h", "1h 30m", "1h30", "30m1h", "1m1m", "1x", "nan", "inf", "1e3", "0x10s", "1h-3m"})
    EXPECT_FALSE(parse_seconds(text)) << "'" << text << "'";
}

}  // namespace
}  // namespace kgate::tool
