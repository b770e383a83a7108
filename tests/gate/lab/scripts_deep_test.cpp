// SPDX-License-Identifier: Apache-2.0
/// The same with longer scripts and more processes: minutes and gigabytes.
#include "gate/lab/scripts.hpp"
#include "mutants/dismisses_blindly.hpp"

namespace kgate::lab {
namespace {

template <class Cells>
using shipped = detail::gates::protocol<Cells>;

void holds(const gate_scripts& what, int deaths) {
  const script_verdict seen = explore_scripts<shipped>(what, deaths, std::uint64_t{16} << 30);
  EXPECT_TRUE(seen.holds) << seen.text;
  std::printf("%llu states\n", static_cast<unsigned long long>(seen.states));
}

TEST(gate_scripts_deep, a_waiter_dismissed_with_a_death) {
  holds({.processes = 3, .members = 3, .k = 1, .acts = 1, .among = acts("bn")}, 1);
}
TEST(gate_scripts_deep, a_mutant_that_dismisses_a_holder_for_a_waiter) {
  const script_verdict seen = explore_scripts<detail::gates::dismisses_blindly::protocol>(
      {.processes = 3, .members = 3, .k = 1, .acts = 2, .among = acts("bn")}, 0);
  EXPECT_TRUE(seen.violated) << seen.text;
}
TEST(gate_scripts_deep, two_operations_of_any_kind_each) {
  holds({.processes = 2, .members = 2, .k = 1, .acts = 2, .among = acts("abcdefghijkl")}, 0);
}
TEST(gate_scripts_deep, two_operations_of_most_kinds_each_with_any_deaths) {
  holds({.processes = 2, .members = 2, .k = 1, .acts = 2, .among = acts("abdefgh")}, 2);
}
TEST(gate_scripts_deep, three_of_entering_giving_up_and_resizing_each) {
  holds({.processes = 2, .members = 2, .k = 1, .acts = 3, .among = acts("abeh")}, 0);
}
TEST(gate_scripts_deep, three_passages_each_with_any_deaths) {
  holds({.processes = 2, .members = 2, .k = 1, .acts = 3, .among = acts("ab")}, 2);
}
TEST(gate_scripts_deep, three_processes_one_operation_each_with_any_deaths) {
  holds({.processes = 3, .members = 3, .k = 1, .acts = 1, .among = acts("ab")}, 3);
}
TEST(gate_scripts_deep, three_processes_at_two_slots_with_a_death) {
  holds({.processes = 3, .members = 3, .k = 2, .acts = 1, .among = acts("abef")}, 1);
}

}  // namespace
}  // namespace kgate::lab
