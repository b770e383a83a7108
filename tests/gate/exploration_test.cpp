// SPDX-License-Identifier: Apache-2.0
// Schedules of the gate protocol with preemptions and deaths at every step.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <random>
#include <string>

#include "explored_cells.hpp"

namespace kgate::explored {
namespace {

using protocol_under_test = protocol<cells>;

/// What a member does, and what the test knows of it.
struct actor {
  int passages = 1;
  int weight = 1;
  bool gives_up = false;  ///< when it finds itself queued
  int resize_to = 0;
  int inside = 0;  ///< permits it believes to have
  int done = 0;
};

struct setup {
  int k;
  std::vector<actor> actors;
  unsigned overtakings = 0;
};

/// Enter, with the waiting of the library as steps: look at one's state, look after the gate.
void passage(world& w, protocol_under_test& p, unsigned i, actor& me) {
  word became;
  if (me.resize_to != 0) {
    p.resize(i, me.resize_to);
    p.advance();
    return;
  }
  outcome result = p.request(i, me.weight, true, became);
  if (result == outcome::queued && me.gives_up) {
    result = p.abandon(i);
    if (result != outcome::entered) {
      p.advance();
      return;
    }
  }
  while (w.memory.state_of(i).where() == kind::waits) {
    p.settled();
    for (unsigned j = 0; j < w.memory.members(); ++j)
      if (j != i && !w.memory.is_alive(j)) p.heal(j);
    p.advance();
  }
  me.inside = me.weight;
  w.yield();
  me.inside = 0;
  p.leave(i, became);
  if (became.waiting()) p.hand_over();
}

/// One schedule: at step preempt[x] the next process takes over, at step death[x] the running one dies.
struct schedule {
  std::vector<std::size_t> switches;
  std::vector<std::size_t> deaths;
};

bool contains(const std::vector<std::size_t>& steps, std::size_t step) {
  return std::find(steps.begin(), steps.end(), step) != steps.end();
}

struct verdict {
  bool good = true;
  std::size_t steps = 0;
  std::string text;
};

verdict play(const setup& given, const schedule& s, cells::fault broken = cells::fault::none) {
  setup here = given;
  const auto n = static_cast<unsigned>(here.actors.size());
  world w(here.k, n);
  w.memory.break_it(broken);
  w.memory.set_overtakings(here.overtakings);
  protocol_under_test p(w.memory);
  for (unsigned i = 0; i < n; ++i)
    w.add([&, i] {
      for (actor& me = here.actors[i]; me.done < me.passages; ++me.done) passage(w, p, i, me);
    });
  verdict out;
  const auto fail = [&](const char* what) {
    if (out.good) out.text = std::string(what) + " at step " + std::to_string(out.steps);
    out.good = false;
  };
  int k_most = here.k;
  for (const actor& a : here.actors) k_most = std::max(k_most, a.resize_to);
  const auto runnable = [&](unsigned i) { return !w.finished(i) && w.memory.is_alive(i); };
  unsigned now = 0;
  std::size_t since_switch = 0;
  while (out.good && out.steps < 20'000) {
    bool any = false;
    for (unsigned i = 0; i < n; ++i) any |= runnable(i);
    if (!any) break;
    // Fair in the end: nobody waits by spinning for ever.
    const bool forced = contains(s.switches, out.steps) || since_switch > 150;
    if (forced || !runnable(now)) {
      do now = (now + 1) % n;
      while (!runnable(now));
      since_switch = 0;
    }
    w.step(now);
    ++since_switch;
    if (contains(s.deaths, out.steps)) {
      w.memory.die(now);
      here.actors[now].inside = 0;
    }
    ++out.steps;
    int inside = 0;
    for (const actor& a : here.actors) inside += a.inside;
    if (inside > k_most) fail("too many inside");
    if (!w.memory.sound()) fail("the counts do not fit (G3, G4)");
  }
  if (out.steps >= 20'000) fail("somebody never gets in");
  // Whoever comes later heals the rest, and finds every permit.
  if (out.good) {
    world* const all = &w;
    bool whole = false;
    w.add([&, all] {
      for (unsigned i = 0; i < n; ++i)
        if (!all->memory.is_alive(i)) p.heal(i);
      p.advance();
      p.settled();
      whole = true;
    });
    for (int guard = 0; guard < 10'000 && w.step(n); ++guard) {
    }
    if (!whole || w.memory.permits_inside() != 0 || w.memory.peek().free() != w.memory.k()) fail("a permit is lost");
  }
  return out;
}

/// All schedules with up to two switches and one death.
void explore(const char* name, const setup& given, std::size_t stride) {
  const std::size_t length = play(given, {}).steps + 40;
  std::size_t played = 0;
  const auto check = [&](const schedule& s) {
    const verdict v = play(given, s);
    ++played;
    ASSERT_TRUE(v.good) << name << ": " << v.text << "; switches at " << (s.switches.empty() ? 0 : s.switches[0])
                        << ", " << (s.switches.size() < 2 ? 0 : s.switches[1]) << ", death at "
                        << (s.deaths.empty() ? 0 : s.deaths[0]);
  };
  for (std::size_t a = 0; a < length; ++a) {
    for (std::size_t death = 0; death < length && !testing::Test::HasFatalFailure(); ++death) check({{a}, {death}});
    for (std::size_t b = a + 1; b < length && !testing::Test::HasFatalFailure(); b += stride)
      for (std::size_t death = a; death < length && !testing::Test::HasFatalFailure(); death += stride)
        check({{a, b}, {death}});
  }
  std::printf("%s: %zu schedules of about %zu steps\n", name, played, length);
}

TEST(exploration, two_members_one_slot) { explore("two members, k = 1", {1, {{}, {}}}, 3); }
TEST(exploration, three_members_one_slot) { explore("three members, k = 1", {1, {{}, {}, {}}}, 11); }
TEST(exploration, three_members_two_slots) { explore("three members, k = 2", {2, {{.passages = 2}, {}, {}}}, 11); }
TEST(exploration, giving_up) { explore("one gives up, k = 1", {1, {{}, {.gives_up = true}, {}}}, 9); }
TEST(exploration, weights) {
  explore("weights 2 and 1, k = 2", {2, {{.weight = 2}, {.weight = 1}, {.weight = 2}}}, 11);
}
TEST(exploration, resizing) { explore("resize 1 to 2", {1, {{}, {}, {.resize_to = 2}}}, 11); }
TEST(exploration, overtaking) { explore("one may pass, k = 1", {1, {{.passages = 2}, {}, {.passages = 2}}, 1}, 11); }
TEST(exploration, shrinking) { explore("resize 2 to 1", {2, {{}, {}, {.resize_to = 1}}}, 11); }

/// Many switches, several deaths, by chance; the seed is the number of the run.
TEST(exploration, by_chance) {
  const setup cases[] = {{1, {{.passages = 2}, {.passages = 2}, {.gives_up = true}, {}}},
                         {2, {{.passages = 2}, {.weight = 2}, {.passages = 2}, {.gives_up = true}}},
                         {2, {{.passages = 2}, {.passages = 2}, {.resize_to = 1}, {.resize_to = 3}}},
                         {1, {{.passages = 3}, {.passages = 3}, {.gives_up = true}, {}}, 2}};
  for (unsigned seed = 0; seed < 30'000; ++seed) {
    std::mt19937 random(seed);
    schedule s;
    for (auto i = random() % 8; i > 0; --i) s.switches.push_back(random() % 200);
    for (auto i = random() % 4; i > 0; --i) s.deaths.push_back(random() % 250);
    const verdict v = play(cases[seed % 4], s);
    ASSERT_TRUE(v.good) << v.text << ", seed " << seed;
  }
}

/// The exploration can fail: it finds what happens if the protocol's two assumptions do not hold.
TEST(exploration, notices_faults) {
  for (const cells::fault broken : {cells::fault::nobody_helps, cells::fault::living_seem_dead}) {
    bool noticed = false;
    for (std::size_t a = 0; a < 80 && !noticed; ++a)
      for (std::size_t death = 0; death < 80 && !noticed; ++death)
        noticed = !play({1, {{}, {}, {}}, 0}, {{a}, {death}}, broken).good;
    EXPECT_TRUE(noticed) << static_cast<int>(broken);
  }
}

}  // namespace
}  // namespace kgate::explored
