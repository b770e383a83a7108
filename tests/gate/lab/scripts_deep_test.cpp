// SPDX-License-Identifier: Apache-2.0
/// The same with longer scripts and more processes: minutes and gigabytes.
#include "gate/lab/scripts.hpp"
#include "mutants/never_closed.hpp"
#include "mutants/no_check_of_word.hpp"

namespace kgate::lab {
namespace {

template <class Cells>
using shipped = detail::gates::protocol<Cells>;

void holds(const gate_scripts& what, int deaths) {
  const script_verdict seen = explore_scripts<shipped>(what, deaths, std::uint64_t{5} << 30);
  EXPECT_TRUE(seen.holds) << seen.text;
  std::printf("%llu states\n", static_cast<unsigned long long>(seen.states));
}

/// Three processes, each of which does what its letter says; the first is inside when it begins, and as many as have
/// arrived are queued.
gate_scripts three_of(const char* letters, unsigned arrived) {
  gate_scripts what{.processes = 3, .members = 3, .k = 1, .arrived = arrived, .dismissed = 1};
  for (int p = 0; p < 3; ++p) what.each.push_back(acts(std::string(1, letters[p])));
  return what;
}

TEST(gate_scripts_deep, a_queued_waiter_dismissed_with_a_death) { holds(three_of("bbn", 2), 1); }
TEST(gate_scripts_deep, three_processes_of_which_two_are_queued_with_a_death) { holds(three_of("bbb", 3), 1); }
TEST(gate_scripts_deep, two_passages_each_with_any_deaths) {
  holds({.processes = 2, .members = 2, .k = 1, .acts = 2, .among = acts("ab")}, 2);
}
TEST(gate_scripts_deep, two_of_entering_and_giving_up_each_with_a_death) {
  holds({.processes = 2, .members = 2, .k = 1, .acts = 2, .among = acts("abe")}, 1);
}
TEST(gate_scripts_deep, two_of_entering_and_resizing_each_with_a_death) {
  holds({.processes = 2, .members = 2, .k = 1, .acts = 2, .among = acts("abh")}, 1);
}
TEST(gate_scripts_deep, newcomers_may_pass_the_queue_twice_with_a_death) {
  holds({.processes = 2, .members = 2, .k = 1, .acts = 2, .overtakings = 2, .among = acts("ab")}, 1);
}
TEST(gate_scripts_deep, three_processes_at_two_slots) {
  holds({.processes = 3, .members = 3, .k = 2, .acts = 1, .among = acts("b")}, 0);
}

/// Too many to be decided: a gigabyte of them, by breadth.
void is_not_violated_at_first(const gate_scripts& what, int deaths) {
  const script_verdict seen = explore_scripts<shipped>(what, deaths, std::uint64_t{1} << 30);
  EXPECT_FALSE(seen.violated) << seen.text;
  std::printf("%s: %llu states\n", seen.holds ? "holds" : "undecided", static_cast<unsigned long long>(seen.states));
}

TEST(gate_scripts_deep, undecided_a_waiter_dismissed_with_a_death) {
  is_not_violated_at_first({.processes = 3, .members = 3, .k = 1, .acts = 1, .among = acts("bn")}, 1);
}
TEST(gate_scripts_deep, undecided_three_processes_one_passage_each_with_a_death) {
  is_not_violated_at_first({.processes = 3, .members = 3, .k = 1, .acts = 1, .among = acts("b")}, 1);
}
TEST(gate_scripts_deep, undecided_two_of_most_kinds_each) {
  is_not_violated_at_first({.processes = 2, .members = 2, .k = 1, .acts = 2, .among = acts("abdefgh")}, 0);
}

template <template <class> class Mutant>
void caught(const gate_scripts& what, int deaths) {
  const script_verdict seen = explore_scripts<Mutant>(what, deaths, std::uint64_t{5} << 30);
  EXPECT_TRUE(seen.violated) << seen.text;
}

TEST(gate_mutants_deep, a_late_helper_that_does_not_check_again) {
  caught<detail::gates::no_check_of_word::protocol>(
      {.processes = 2, .members = 2, .k = 1, .acts = 2, .among = acts("abe")}, 0);
}
TEST(gate_mutants_deep, a_gate_that_is_not_closed) {
  caught<detail::gates::never_closed::protocol>(
      {.processes = 2, .members = 2, .k = 1, .acts = 2, .overtakings = 1, .among = acts("ab")}, 1);
}

}  // namespace
}  // namespace kgate::lab
