// SPDX-License-Identifier: Apache-2.0
// On the native machine an algorithm must be the instructions one would write by hand: this reads the disassembly of
// both.

#include <gtest/gtest.h>

#include <cctype>
#include <cstdio>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace {

std::string output_of(const std::string& command) {
  std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string text;
  char piece[4096];
  while (pipe && fgets(piece, sizeof piece, pipe.get()) != nullptr) text += piece;
  return text;
}

/// "xchg %si,0x40(%rdi)" becomes "xchg %,0x40(%)".
std::string without_registers(const std::string& line) {
  std::string text;
  bool skipping = false;
  for (const char c : line) {
    skipping = skipping && std::isalnum(static_cast<unsigned char>(c)) != 0;
    if (!skipping) text += c;
    skipping = skipping || c == '%';
  }
  return text;
}

/// The accesses to memory other than the stack in the code of one function, in order: the operation and which offset
/// from its base it touches, with registers left out, since which register holds what is the compiler's choice. So is
/// whether a busy wait's first look stands in front of its loop: a look repeated after a pause is one look.
std::vector<std::string> accesses(const std::string& object, const std::string& function) {
  std::istringstream code(
      output_of(KGATE_OBJDUMP " -d --no-show-raw-insn --no-addresses --disassemble=" + function + " " + object));
  std::vector<std::string> found;
  bool paused = false;
  for (std::string line; std::getline(code, line);) {
    if (!line.starts_with('\t') || line.find("nop") != std::string::npos) continue;
    paused = paused || line.find("pause") != std::string::npos;
    const bool of_memory = line.find('(') != std::string::npos && line.find("%rsp") == std::string::npos &&
                           line.find("%rip") == std::string::npos && line.find("\tlea ") == std::string::npos;
    if (!of_memory && line.find("\tmfence") == std::string::npos && line.find("\tlock ") == std::string::npos) continue;
    const std::string access = without_registers(line);
    if (!paused || found.empty() || found.back() != access) found.push_back(access);
    paused = false;
  }
  return found;
}

const std::vector<std::string> functions = {"figure3_acquire", "figure3_release", "names_acquire", "names_release"};

class instructions : public testing::Test {
 protected:
  void SetUp() override {
#if !defined(__x86_64__)
    GTEST_SKIP() << "reads x86-64 disassembly";
#endif
  }
};

TEST_F(instructions, through_the_machine_are_those_written_by_hand) {
  for (const std::string& function : functions) {
    const auto by_hand = accesses(KGATE_HAND_OBJECT, function);
    EXPECT_GE(by_hand.size(), 2U) << function << " was not found in the disassembly";
    EXPECT_EQ(accesses(KGATE_MACHINE_OBJECT, function), by_hand) << function;
  }
}

TEST_F(instructions, one_atomic_too_many_is_noticed) {
  EXPECT_NE(accesses(KGATE_MACHINE_OBJECT, "figure3_acquire"), accesses(KGATE_HAND_EXTRA_OBJECT, "figure3_acquire"));
  EXPECT_NE(accesses(KGATE_MACHINE_OBJECT, "names_acquire"), accesses(KGATE_HAND_EXTRA_OBJECT, "names_acquire"));
  EXPECT_EQ(accesses(KGATE_MACHINE_OBJECT, "figure3_release"), accesses(KGATE_HAND_EXTRA_OBJECT, "figure3_release"));
}

}  // namespace
