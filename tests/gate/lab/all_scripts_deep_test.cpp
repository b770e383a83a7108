// SPDX-License-Identifier: Apache-2.0
/// All scripts of two and three operations of each of two processes, as far as a few gigabytes and ten minutes go: every
/// kind with entering, three each; any kinds, two each; any three of one process beside any one of the other.
#include "gate/lab/scripts.hpp"

namespace kgate::lab {
namespace {

template <class Cells>
using shipped = detail::gates::protocol<Cells>;

struct set {
  const char* name;
  gate_scripts what;
};

gate_scripts of(const char* letters, int acts, int acts_of_first = 0, int k = 1) {
  return {.processes = 2,
          .members = 2,
          .k = k,
          .acts = acts,
          .acts_of_first = acts_of_first,
          .among = kgate::lab::acts(letters)};
}

class all_scripts : public testing::TestWithParam<set> {};

TEST_P(all_scripts, hold) {
  const script_verdict seen = explore_scripts<shipped>(GetParam().what, 0, std::uint64_t{7} << 30);
  EXPECT_TRUE(seen.holds) << seen.text;
  std::printf("%llu states\n", static_cast<unsigned long long>(seen.states));
}

INSTANTIATE_TEST_SUITE_P(of_two_processes, all_scripts,
                         testing::Values(set{"three_of_entering_with_two", of("abc", 3)},
                                         set{"three_of_entering_and_trying", of("abd", 3)},
                                         set{"three_of_entering_and_giving_up", of("abe", 3)},
                                         set{"three_of_entering_and_slots", of("abf", 3)},
                                         set{"three_of_entering_and_touching", of("abg", 3)},
                                         set{"three_of_entering_and_growing", of("abh", 3)},
                                         set{"three_of_entering_and_shrinking", of("abj", 3)},
                                         set{"three_of_entering_and_joining_again", of("abk", 3)},
                                         set{"three_of_entering_and_removing", of("abl", 3)},
                                         set{"two_of_any_kind", of("abcdefghijkl", 2)},
                                         set{"three_of_any_kind_beside_one", of("abcdefghijkl", 1, 3)}),
                         [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace kgate::lab
