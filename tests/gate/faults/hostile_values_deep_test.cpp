// SPDX-License-Identifier: Apache-2.0
#include "gate/faults/hostile_values.hpp"

namespace kgate::faults {
namespace {

TEST(hostile_values_deep, in_every_word_of_the_first_page_and_many_others) {
  hostile_words([](std::size_t word) { return word < 512 || word % 97 == 0; }, false);
}

TEST(hostile_values_deep, all_the_time) {
  for (unsigned seed = 100; seed < 120; ++seed) hostile_writer(seed, std::chrono::seconds(3));
}

}  // namespace
}  // namespace kgate::faults
