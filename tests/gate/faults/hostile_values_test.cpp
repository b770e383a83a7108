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

/// As W is for a member whose every change comes too late, because another one changes it all the time.
struct cells_too_late : detail::gates::mapped_cells {
  static bool cas_word(detail::gates::word, detail::gates::word) { return false; }
  static bool fall_asleep(unsigned) { return false; }
};

/// Each operation that goes round until W is as it was read ends, though W never is; and so does falling asleep, though
/// the bell is rung each time.
TEST(hostile_values, operations_that_go_round_for_ever_end) {
  const scratch where;
  gate g = where.open("gate", 1);
  const gate::permit inside = g.enter();
  const int how = guarded(
      [&] {
        using namespace detail::gates;
        location here;
        here.directory = where.path();
        core core;
        membership mine;
        if (core.open("gate", 0, here) || core.join("victim", mine)) _exit(1);
        cells_too_late cells;
        cells.bind(core.file());
        protocol<cells_too_late> late(cells);
        word became;
        int ended = 0;
        const auto ends = [&](const auto& operation) {
          try {
            operation();
          } catch (const scribbled&) {
            ++ended;
          }
        };
        const state out = mine.out.with_weight(1);
        ends([&] { late.request(mine.number, out, late.call(mine.number, out), became); });
        ends([&] { late.leave(mine.number, out.at(kind::in), became); });
        ends([&] { late.resize(mine.number, out); });
        ends([&] { late.retire(true); });
        cells.set_state(mine.number, out.at(kind::in));
        ends([&] { late.touch(mine.number, out.at(kind::in)); });
        ends([&] { late.dismiss(mine.number, out.at(kind::in)); });
        cells.set_state(mine.number, out.at(kind::waits));
        ends([&] { late.abandon(mine.number); });
        mapped_cells::watch_set ahead;
        ends([&] { late.falls_asleep(mine.number, ahead); });
        _exit(ended == 8 ? 0 : 2 + ended);
      },
      30);
  EXPECT_TRUE(WIFEXITED(how) && WEXITSTATUS(how) == 0) << "status " << how;
}

/// A member that no process is, dead in a state that only a participant has.
TEST(hostile_values, a_caller_with_a_number_that_nobody_has) {
  const scratch where;
  const gate made = where.open("gate", 1);
  const int how = guarded(
      [&] {
        detail::gates::location here;
        here.directory = where.path();
        detail::gates::core core;
        if (core.open("gate", 0, here)) _exit(1);
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
