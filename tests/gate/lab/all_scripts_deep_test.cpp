// SPDX-License-Identifier: Apache-2.0
/// All scripts of two and three operations of each of two processes, as far as gigabytes and minutes go: entering with
/// each other kind, three each; any kinds, two each; any three of one process beside any one of the other. Which sets
/// are explored to the end is part of the test; of the others the first states are, by breadth, and nothing is wrong
/// there.
#include "gate/lab/scripts.hpp"

namespace kgate::lab {
namespace {

template <class Cells>
using shipped = detail::gates::protocol<Cells>;

struct set {
  const char* name;
  const char* letters;
  int acts = 3;
  int acts_of_first = 0;
  bool to_the_end = false;

  gate_scripts scripts() const {
    return {.processes = 2,
            .members = 2,
            .k = 1,
            .acts = acts,
            .acts_of_first = acts_of_first,
            .among = kgate::lab::acts(letters)};
  }
  std::uint64_t memory_max() const { return std::uint64_t{to_the_end ? 7U : 2U} << 30; }
  friend std::ostream& operator<<(std::ostream& out, const set& s) { return out << s.letters; }
};

class all_scripts : public testing::TestWithParam<set> {};

TEST_P(all_scripts, hold) {
  const script_verdict seen = explore_scripts<shipped>(GetParam().scripts(), 0, GetParam().memory_max());
  EXPECT_FALSE(seen.violated) << seen.text;
  EXPECT_TRUE(seen.holds || !GetParam().to_the_end) << seen.text;
  std::printf("%s: %llu states\n", seen.holds ? "holds" : "undecided", static_cast<unsigned long long>(seen.states));
}

INSTANTIATE_TEST_SUITE_P(
    of_two_processes, all_scripts,
    testing::Values(
        set{.name = "entering", .letters = "ab", .to_the_end = true},
        set{.name = "entering_and_trying", .letters = "abd", .to_the_end = true},
        set{.name = "entering_and_growing", .letters = "abh", .to_the_end = true},
        set{.name = "entering_and_giving_up", .letters = "abe"}, set{.name = "entering_with_two", .letters = "abc"},
        set{.name = "entering_and_slots", .letters = "abf"}, set{.name = "entering_and_touching", .letters = "abg"},
        set{.name = "entering_and_shrinking", .letters = "abj"},
        set{.name = "entering_and_joining_again", .letters = "abk", .to_the_end = true},
        set{.name = "entering_and_removing", .letters = "abl", .to_the_end = true},
        set{.name = "two_of_any_kind", .letters = "abcdefghijkl", .acts = 2},
        set{.name = "three_of_any_kind_beside_one", .letters = "abcdefghijkl", .acts = 1, .acts_of_first = 3}),
    [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace kgate::lab
