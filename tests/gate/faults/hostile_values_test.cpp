// SPDX-License-Identifier: Apache-2.0
#include "gate/faults/hostile_values.hpp"

namespace kgate::faults {
namespace {

using detail::gates::file_layout;

/// The words in use when three members are at the gate, and some of the others.
TEST(hostile_values, in_every_word_in_use) {
  hostile_words(
      [](std::size_t word) {
        const std::size_t byte = word * 8;
        const auto within = [&](std::size_t from, std::size_t bytes) { return byte >= from && byte < from + bytes; };
        return byte < offsetof(file_layout, state_bits) + 64 || within(offsetof(file_layout, queue_bits), 64) ||
               within(offsetof(file_layout, lines), 3 * 64) || within(offsetof(file_layout, slot_bits), 40) ||
               within(offsetof(file_layout, info), 64) || word % 13999 == 0;
      },
      true);
}

TEST(hostile_values, a_search_for_slots_stays_within_them) {
  for (const std::uint64_t size : {0UL, 0xFFFFUL, 4095UL, 4096UL, ~0UL}) {
    const int how = guarded([&] { no_slot_but_beyond(size); }, 60);
    EXPECT_TRUE(WIFEXITED(how) && WEXITSTATUS(how) == 0) << "status " << how << " with size " << size;
  }
}

TEST(hostile_values, all_the_time) {
  for (unsigned seed = 1; seed <= 3; ++seed) hostile_writer(seed, std::chrono::milliseconds(700));
}

}  // namespace
}  // namespace kgate::faults
