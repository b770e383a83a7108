// SPDX-License-Identifier: Apache-2.0
// Schedules of the gate protocol with preemptions and deaths at every step.
#include <gtest/gtest.h>

#include <cstdio>
#include <random>

#include "kgate/algorithms/gate_protocol.hpp"
#include "mutants/heavy_head.hpp"
#include "mutants/no_look_at_word.hpp"
#include "mutants/size_by_value.hpp"
#include "scripts.hpp"

namespace kgate::explored {
namespace {

using gate_detail::protocol;

constexpr act enter{doing::enter, 1}, enter_2{doing::enter, 2}, give_up{doing::give_up, 1};
constexpr act resize_to(int k) { return {doing::resize, k}; }

void expect_good(const setup& given, const schedule& s) {
  const verdict v = play<protocol>(given, s);
  ASSERT_TRUE(v.good) << v.text;
}

/// All schedules with up to two switches and one death.
void explore(const char* name, const setup& given, std::size_t stride) {
  const std::size_t length = play<protocol>(given, {}).steps + 40;
  std::size_t played = 0;
  const auto check = [&](const schedule& s) {
    expect_good(given, s);
    ++played;
  };
  for (std::size_t a = 0; a < length; ++a) {
    for (std::size_t death = 0; death < length && !testing::Test::HasFatalFailure(); ++death) check({{a}, {death}, {}});
    for (std::size_t b = a + 1; b < length && !testing::Test::HasFatalFailure(); b += stride)
      for (std::size_t death = a; death < length && !testing::Test::HasFatalFailure(); death += stride)
        check({{a, b}, {death}, {}});
  }
  std::printf("%s: %zu schedules of about %zu steps\n", name, played, length);
}

TEST(exploration, two_members_one_slot) { explore("two members, k = 1", {1, {{enter}, {enter}}}, 3); }
TEST(exploration, three_members_one_slot) { explore("three members, k = 1", {1, {{enter}, {enter}, {enter}}}, 11); }
TEST(exploration, three_members_two_slots) {
  explore("three members, k = 2", {2, {{enter, enter}, {enter}, {enter}}}, 11);
}
TEST(exploration, giving_up) { explore("one gives up, k = 1", {1, {{enter}, {give_up}, {enter}}}, 9); }
TEST(exploration, weights) { explore("weights 2 and 1, k = 2", {2, {{enter_2}, {enter}, {enter_2}}}, 11); }
TEST(exploration, resizing) { explore("resize 1 to 2", {1, {{enter}, {enter}, {resize_to(2)}}}, 11); }
TEST(exploration, overtaking) { explore("one may pass, k = 1", {1, {{enter, enter}, {enter}, {enter, enter}}, 1}, 11); }
TEST(exploration, shrinking) { explore("resize 2 to 1", {2, {{enter}, {enter}, {resize_to(1)}}}, 11); }
TEST(exploration, resizing_and_entering) {
  explore("resize and enter", {2, {{resize_to(3), enter_2}, {enter, resize_to(1)}}}, 7);
}

const std::vector<act> all_acts{
    enter,        enter_2,      {doing::attempt, 1}, give_up, {doing::take_slot, 1}, {doing::touch, 2},
    resize_to(1), resize_to(3), {doing::rejoin, 1}};

/// All scripts of exactly `length` acts.
std::vector<script> all_scripts(std::size_t length) {
  std::vector<script> scripts{{}};
  for (std::size_t i = 0; i < length; ++i) {
    std::vector<script> longer;
    for (const script& s : scripts)
      for (const act a : all_acts) {
        longer.push_back(s);
        longer.back().push_back(a);
      }
    scripts = std::move(longer);
  }
  return scripts;
}

/// Every pair of scripts of two operations, switched at every other step.
TEST(exploration, all_pairs_of_scripts) {
  const std::vector<script> scripts = all_scripts(2);
  std::size_t played = 0;
  for (std::size_t i = 0; i < scripts.size(); ++i)
    for (std::size_t j = i; j < scripts.size(); ++j) {
      const setup given{2, {scripts[i], scripts[j]}};
      const std::size_t length = play<protocol>(given, {}).steps;
      for (std::size_t a = 0; a < length && !HasFatalFailure(); a += 2, ++played) expect_good(given, {{a}, {}, {}});
      if (HasFatalFailure()) return;
    }
  std::printf("%zu schedules of pairs of scripts\n", played);
}

/// Scripts of up to three operations of up to four members, many switches, several deaths and births, by chance; the seed is the
/// number of the run.
template <template <class> class Protocol>
verdict play_by_chance(unsigned seed) {
  std::mt19937 random(seed);
  setup given{1 + static_cast<int>(random() % 3), {}, seed % 4 == 3 ? 1 + static_cast<unsigned>(random() % 2) : 0};
  for (auto n = 2 + random() % 3; n > 0; --n) {
    script acts;
    for (auto i = 1 + random() % 3; i > 0; --i) acts.push_back(all_acts[random() % all_acts.size()]);
    given.scripts.push_back(acts);
  }
  schedule s;
  for (auto i = random() % 8; i > 0; --i) s.switches.push_back(random() % 200);
  for (auto i = random() % 4; i > 0; --i) s.deaths.push_back(random() % 250);
  for (auto i = random() % 4; i > 0; --i) s.births.push_back(random() % 300);
  verdict v = play<Protocol>(given, s);
  if (!v.good) v.text += ", seed " + std::to_string(seed);
  return v;
}

TEST(exploration, by_chance) {
  for (unsigned seed = 0; seed < 40'000; ++seed) {
    const verdict v = play_by_chance<protocol>(seed);
    ASSERT_TRUE(v.good) << v.text;
  }
}

template <template <class> class Mutant>
std::string first_failure() {
  for (unsigned seed = 0; seed < 100'000; ++seed)
    if (verdict v = play_by_chance<Mutant>(seed); !v.good) return v.text;
  return {};
}

/// The mistakes that the protocol has been cured of, or that its text warns of, are noticed.
TEST(exploration, notices_mutants) {
  // Without any schedule: one member resizes and then enters with another weight.
  const setup one_after_the_other{4, {{resize_to(3), enter}, {enter}}};
  EXPECT_TRUE(play<protocol>(one_after_the_other, {}).good);
  EXPECT_FALSE(play<gate_detail::size_by_value::protocol>(one_after_the_other, {}).good);
  for (const auto& [name, found] : {std::pair{"size_by_value", first_failure<gate_detail::size_by_value::protocol>()},
                                    {"heavy_head", first_failure<gate_detail::heavy_head::protocol>()},
                                    {"no_look_at_word", first_failure<gate_detail::no_look_at_word::protocol>()}}) {
    EXPECT_NE(found, "") << name;
    std::printf("%s: %s\n", name, found.c_str());
  }
}

/// The exploration can fail: it finds what happens if the protocol's two assumptions do not hold.
TEST(exploration, notices_faults) {
  for (const cells::fault broken : {cells::fault::nobody_helps, cells::fault::living_seem_dead}) {
    bool noticed = false;
    for (std::size_t a = 0; a < 80 && !noticed; ++a)
      for (std::size_t death = 0; death < 80 && !noticed; ++death)
        noticed = !play<protocol>({1, {{enter}, {enter}, {enter}}, 0, broken}, {{a}, {death}, {}}).good;
    EXPECT_TRUE(noticed) << static_cast<int>(broken);
  }
}

}  // namespace
}  // namespace kgate::explored
