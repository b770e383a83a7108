// SPDX-License-Identifier: Apache-2.0
/// Text of others is shown without steering the terminal, and cut between characters.
#include "tools/common/text.hpp"

#include <gtest/gtest.h>

namespace kgate::tool {
namespace {

constexpr const char* bad = "\xEF\xBF\xBD";

TEST(text, plain_text_stays) {
  EXPECT_EQ(displayable("sleep 5"), "sleep 5");
  EXPECT_EQ(displayable("gr\xC3\xBC\xC3\x9F"), "gr\xC3\xBC\xC3\x9F");
  EXPECT_EQ(displayable("\xF0\x9F\x98\x80"), "\xF0\x9F\x98\x80");
}

TEST(text, nothing_steers_a_terminal) {
  const auto replaced = [](const char* what) { return std::string("a") + what + "b"; };
  for (const char* what : {"\033", "\x01", "\x7F", "\xC2\x9B", "\xE2\x80\xAE", "\xE2\x81\xA6", "\xE2\x80\xA8", "\xFF",
                           "\xC0", "\xED\xA0\x80", "\xF4\x90\x80\x80"})
    EXPECT_EQ(displayable(replaced(what)).find(what), std::string::npos);
  EXPECT_EQ(displayable("a\033[31mb"), std::string("a") + bad + "[31mb");
  EXPECT_EQ(displayable("a\xC2\x9B"
                        "31mb"),
            std::string("a") + bad + "31mb");
}

TEST(text, a_character_cut_off_at_the_end_is_left_out) {
  EXPECT_EQ(displayable("gr\xC3"), "gr");
  EXPECT_EQ(displayable("\xF0\x9F\x98"), "");
  EXPECT_EQ(cut_to_bytes("gr\xC3\xBC\xC3\x9F", 3), "gr");
  EXPECT_EQ(cut_to_bytes("gr\xC3\xBC\xC3\x9F", 4), "gr\xC3\xBC");
  EXPECT_EQ(cut_to_bytes("abc", 3), "abc");
}

TEST(text, columns) {
  EXPECT_EQ(columns_of("abc"), 3U);
  EXPECT_EQ(columns_of("\xE4\xB8\xAD\xE6\x96\x87"), 4U);
  EXPECT_EQ(columns_of("e\xCC\x81"), 1U);
  EXPECT_EQ(cut_to_columns("\xE4\xB8\xAD\xE6\x96\x87", 3), "\xE4\xB8\xAD");
  EXPECT_EQ(cut_to_columns("abcdef", 3), "abc");
  EXPECT_EQ(cut_to_columns("abc", 10), "abc");
}

}  // namespace
}  // namespace kgate::tool
