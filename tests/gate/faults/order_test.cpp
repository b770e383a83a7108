// SPDX-License-Identifier: Apache-2.0
// How many get in past one that has called (G12): a real process is held up after each instruction of entering, and
// others pass as often as they can.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <map>
#include <optional>
#include <string>

#include "gate/core.hpp"
#include "gate/faults/scratch.hpp"
#include "gate/faults/traced_process.hpp"

namespace kgate::faults {
namespace {

constexpr const char* name = "gate";
constexpr int members = 2;

struct held_up {
  bool called = false;
  bool finished = false;
  std::size_t instruction = 0;
  int passed = 0;  ///< by the only other member
};

std::uint32_t calls_at(const scratch& where) {
  detail::gates::location here;
  here.directory = where.path();
  detail::gates::segment file;
  EXPECT_FALSE(file.open_read_only(name, here));
  return detail::gates::call_count{file.map().call_bits.load()}.calls();
}

/// The caller finds another inside and is stopped for ever after so many instructions; the one inside leaves, and comes
/// again as often as it can, or `tries` times.
held_up hold_up_after(std::size_t steps, std::optional<unsigned> overtakings, int tries) {
  const scratch where;
  gate_options options = where.options("other");
  options.overtakings = overtakings;
  gate other(name, 1, options);
  gate::member passer = other.join();
  traced_process caller([&] {
    gate its = where.open(name, 0, "caller");
    gate::member member = its.join();
    member.enter();
    member.leave();
    mark();
    member.enter();
    mark();
  });
  EXPECT_TRUE(caller.run_to_mark());
  passer.enter();
  const std::uint32_t before = calls_at(where);
  held_up out;
  caller.share_core();
  for (std::size_t i = 0; i < steps && !out.finished; ++i)
    out.finished = caller.step() != traced_process::step_result::stepped;
  if (out.finished) return out;
  out.instruction = caller.instruction();
  out.called = calls_at(where) != before;
  passer.leave();
  while (out.passed < tries && (passer.try_enter() || passer.try_enter_for(std::chrono::milliseconds(1)))) {
    ++out.passed;
    passer.leave();
  }
  caller.kill_now();
  expect_whole(where, name, 1);
  return out;
}

/// The number of instructions after which it has called.
std::size_t steps_to_call(std::optional<unsigned> overtakings, int tries) {
  std::size_t not_yet = 0, called = 8192;
  while (called - not_yet > 1) {
    const std::size_t middle = (not_yet + called) / 2;
    const held_up seen = hold_up_after(middle, overtakings, tries);
    const bool yet = seen.called || seen.finished;
    EXPECT_TRUE(yet || seen.passed == tries) << "nobody need mind one that has not called";
    (yet ? called : not_yet) = middle;
  }
  return called;
}

/// The most that pass one that has called, over the instructions at which it can be held up.
int passed_most(std::optional<unsigned> overtakings, int tries) {
  constexpr std::size_t steps_max = 400;  // then it is queued, and waits
  const std::size_t first = steps_to_call(overtakings, tries);
  std::map<std::size_t, int> visits;
  int most = 0;
  for (std::size_t steps = first; steps < first + steps_max; ++steps) {
    const held_up seen = hold_up_after(steps, overtakings, tries);
    if (seen.finished || testing::Test::HasFailure()) break;
    EXPECT_TRUE(seen.called);
    ++visits[seen.instruction];
    if (seen.passed <= most) continue;
    most = seen.passed;
    std::printf("held up after %zu instructions: passed %d times\n", steps, most);
  }
  std::printf("called after %zu instructions; held up at %zu different ones: passed at most %d times\n", first,
              visits.size(), most);
  EXPECT_GT(visits.size(), 30U);
  return most;
}

TEST(order_from_the_call, strict) { EXPECT_LE(passed_most(0, 50), members); }

TEST(order_from_the_call, of_gates_as_programs_make_them) {
  // What docs/gates.md says: 2N and 256 that do not look, then 5N + 256 past one that is queued.
  EXPECT_LE(passed_most(std::nullopt, 1000), 7 * members + 512);
}

}  // namespace
}  // namespace kgate::faults
