// SPDX-License-Identifier: Apache-2.0
// What kgate::gate refuses before it touches a file.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <limits>
#include <string>

#include "gate/faults/scratch.hpp"
#include "kgate/gate.hpp"

namespace kgate {
namespace {

using faults::scratch;

/// That they are refused as options, for a gate that would be created and for one that exists, and nothing is left.
std::string refusal_of(const scratch& where, const gate_options& options) {
  std::string said;
  for (const char* const name : {"new", "there"}) {
    try {
      const gate g(name, 2, options);
      ADD_FAILURE() << name << ": mode " << options.mode << ", group " << options.group;
    } catch (const gate_error& error) {
      EXPECT_EQ(error.code(), gate_errc::bad_options) << error.what();
      said = error.what();
    }
  }
  std::size_t files = 0;
  for (const auto& file : std::filesystem::directory_iterator(where.path())) {
    ++files;
    EXPECT_NE(file.path().string().find("there"), std::string::npos) << file.path();
  }
  EXPECT_EQ(files, 3U);
  return said;
}

TEST(gate_options, that_no_gate_can_have_are_refused) {
  const scratch where;
  const gate there = where.open("there", 2);
  gate_options options = where.options();
  for (const unsigned mode : {0U, 0007U, 0060U, 0200U, 0400U, 0440U, 0577U, 01600U, 07777U, ~0U, 0100600U}) {
    options.mode = mode;
    EXPECT_NE(refusal_of(where, options).find("must let the owner read and write"), std::string::npos);
  }
  options.mode = 0600;
  for (const int group : {-2, -7, std::numeric_limits<int>::min()}) {
    options.group = group;
    EXPECT_NE(refusal_of(where, options).find(std::to_string(group)), std::string::npos);
  }
  options.group = -1;
  for (const unsigned overtakings : {~0U, 1U << 31U}) {
    options.overtakings = overtakings;
    EXPECT_NE(refusal_of(where, options).find(std::to_string(overtakings)), std::string::npos);
  }
  for (const unsigned mode : {0600U, 0777U}) {
    const std::string name = "m" + std::to_string(mode);
    const gate made(name, 1, {.directory = where.path(), .mode = mode, .overtakings = (1U << 31U) - 1});
    struct stat file {};
    EXPECT_EQ(stat((where.path() + "/" + name + ".gate").c_str(), &file), 0);
    EXPECT_EQ(file.st_mode & 07777U, mode);
  }
}

TEST(gate_options, a_null_character_is_seen_where_it_is_refused) {
  using namespace std::string_literals;
  const scratch where;
  const gate there = where.open("there", 2);
  gate_options options = where.options();
  try {
    const gate g("mu\0x"s, 1, options);
    FAIL();
  } catch (const gate_error& error) {
    EXPECT_EQ(error.code(), gate_errc::bad_name);
    EXPECT_EQ(std::string(error.what()).find("'mu\\x00x' cannot be the name of a gate: use 1 to 64"), 0U)
        << error.what();
  }
  options.directory += "\0inner"s;
  EXPECT_EQ(refusal_of(where, options).find("'" + where.path() + "\\x00inner' cannot be the directory of a gate"), 0U);
}

}  // namespace
}  // namespace kgate
