// SPDX-License-Identifier: Apache-2.0
#include "gate/faults/hostile_values.hpp"

#include "gate/core.hpp"

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

/// A wait with a time limit ends, though somebody rings all bells for ever.
TEST(hostile_values, bells_that_never_stop_ringing) {
  const scratch where;
  gate g = where.open("gate", 1);
  const gate::permit inside = g.enter();
  const pid_t ringer = fork();
  if (ringer == 0) {
    alarm(60);
    detail::gates::location place;
    place.directory = where.path();
    detail::gates::core core;
    if (core.open("gate", 0, place)) _exit(1);
    for (;;)
      for (unsigned i = 0; i < 4; ++i) core.cells().ring(i);
  }
  const int how = guarded(
      [&] {
        gate mine = where.open("gate");
        _exit(mine.try_enter_for(std::chrono::milliseconds(600)).has_value() ? 1 : 0);
      },
      30);
  EXPECT_TRUE(WIFEXITED(how) && WEXITSTATUS(how) == 0) << "status " << how;
  kill(ringer, SIGKILL);
  waitpid(ringer, nullptr, 0);
}

/// A member that nobody is, dead in a state that only a participant has.
TEST(hostile_values, a_caller_with_a_number_that_nobody_has) {
  const scratch where;
  const gate made = where.open("gate", 1);
  const int how = guarded(
      [&] {
        detail::gates::location place;
        place.directory = where.path();
        detail::gates::core core;
        if (core.open("gate", 0, place)) _exit(1);
        for (unsigned i = 0; i < 64; ++i)
          core.cells().map().state_bits[i].store(detail::gates::state{}.at(detail::gates::kind::calls).bits);
        detail::gates::membership mine;
        static_cast<void>(core.join("victim", mine));
        core.heal_all();
        _exit(0);
      },
      30);
  EXPECT_TRUE(WIFEXITED(how) && WEXITSTATUS(how) == 0) << "status " << how;
}

TEST(hostile_values, all_the_time) {
  for (unsigned seed = 1; seed <= 3; ++seed) hostile_writer(seed, std::chrono::milliseconds(700));
}

}  // namespace
}  // namespace kgate::faults
