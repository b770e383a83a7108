// SPDX-License-Identifier: Apache-2.0
/// Members that doze without timers and the clock that ends their dozes (gate_doze_clock.hpp), over all schedules.
/// Process 0 is the clock, a passage of which lasts from when it is begun until it ends; a passage of the others is a
/// doze. One that dozes without a timer when the clock has ended for good would be stuck.
#include <gtest/gtest.h>

#include "kgate/algorithms/gate_doze_clock.hpp"
#include "kgate/detail/fixed_array.hpp"
#include "lab/checker/model/machine.hpp"
#include "lab/checker/properties/check.hpp"
#include "mutants/ends_without_warning.hpp"
#include "mutants/retires_without_warning.hpp"

namespace kgate::lab {
namespace {

constexpr int asleep = 1, over = 2;

struct clock_variables {
  clock_variables(checker_machine::Memory& memory, int N)
      : runs(memory, {.name = "runs"}, 0), bells(static_cast<std::size_t>(N), [&](std::size_t i) {
          return checker_machine::Var<int>(memory, {.name = "bell", .instance = static_cast<int>(i)}, 0);
        }) {}
  checker_machine::Var<int> runs;
  fixed_array<checker_machine::Var<int>> bells;
};

class clock_cells {
 public:
  using Process = checker_machine::Process;

  clock_cells(clock_variables& all, Process& p) : all_(all), p_(p) {}
  bool runs() { return all_.runs.read(p_["runs"]) == 1; }
  void set_runs(bool runs) { all_.runs.write(p_["runs:="], runs ? 1 : 0); }
  bool dozes(unsigned i) { return (all_.bells[i].read(p_["dozes"]) & asleep) != 0; }
  void set_over(unsigned i) {
    all_.bells[i].rmw(p_["over"], [](int bell) { return (bell & asleep) != 0 ? bell | over : bell; });
  }
  unsigned first() const { return all_.bells.size() > 1 ? 1 : detail::gates::no_member; }
  unsigned next(unsigned i) const { return i + 1 < all_.bells.size() ? i + 1 : detail::gates::no_member; }
  void live(int location, unsigned i) { p_.live(location, i); }

  void set_bell(unsigned i, int bell) { all_.bells[i].write(p_["bell:="], bell); }
  /// As the kernel does: only while the bell says asleep, and nothing else.
  void sleep(unsigned i) {
    all_.bells[i].await(p_["sleeps"], [](int bell) { return bell != asleep; });
  }

 private:
  clock_variables& all_;
  Process& p_;
};

enum class asks : unsigned char { after_its_bell, before_its_bell };
enum class ends : unsigned char { when_nobody_dozes, when_it_is_retired };

template <template <class> class Clock, asks When = asks::after_its_bell, ends How = ends::when_nobody_dozes>
class clocked_dozes {
 public:
  using Process = checker_machine::Process;
  struct Private {};

  clocked_dozes(checker_machine::Memory& memory, int N, int) : all_(memory, N) {}

  void acquire(Process& p, Private&) {
    clock_cells c(all_, p);
    Clock<clock_cells> clock(c);
    const auto i = static_cast<unsigned>(p.id().value);
    p.doorway_end();
    if (i == 0)
      run(p, c, clock);
    else
      doze(p, c, clock, i);
  }
  void release(Process&, Private&) {}

 private:
  static void run(Process& p, clock_cells& c, Clock<clock_cells>& clock) {
    c.set_runs(true);
    if (How == ends::when_it_is_retired) return clock.retire_clock();
    for (;;) {
      p.live(0);
      bool any = false;
      for (unsigned i = c.first(); i != detail::gates::no_member; i = c.next(i)) {
        p.live(i, any);
        if (!c.dozes(i)) continue;
        any = true;
        clock.end_doze(i);
      }
      p.live(any);
      if (!any && clock.end_clock()) return;
    }
  }
  static void doze(Process& p, clock_cells& c, Clock<clock_cells>& clock, unsigned i) {
    bool untimed = false;
    if (When == asks::before_its_bell) untimed = clock.is_watched();
    p.live(untimed);
    c.set_bell(i, asleep);
    if (When == asks::after_its_bell) untimed = clock.is_watched();
    p.live(untimed);
    if (untimed) c.sleep(i);
    c.set_bell(i, 0);
  }

  clock_variables all_;
};

template <class Gate>
check_result explore(int N, int passages) {
  program p(make_model<Gate>(N, N), N, N, program_options{.passages = passages, .wrong = {}});
  check_request request;
  request.properties = {"deadlock-free", "starvation-free"};
  return check(p, request);
}

using shipped = clocked_dozes<detail::gates::doze_clock_protocol>;

TEST(gate_doze_clock, ends_the_doze_of_everybody_without_a_timer) {
  for (const int N : {2, 3}) {
    const check_result seen = explore<shipped>(N, 2);
    EXPECT_EQ(seen.overall(), verdict::holds) << N << " processes: " << to_string(seen.overall());
    std::printf("%llu states\n", static_cast<unsigned long long>(seen.states));
  }
}
/// At any time, since the others take any number of steps before that.
TEST(gate_doze_clock, may_be_retired) {
  for (const int N : {2, 3}) {
    using retired = clocked_dozes<detail::gates::doze_clock_protocol, asks::after_its_bell, ends::when_it_is_retired>;
    const check_result seen = explore<retired>(N, 2);
    EXPECT_EQ(seen.overall(), verdict::holds) << N << " processes: " << to_string(seen.overall());
    std::printf("%llu states\n", static_cast<unsigned long long>(seen.states));
  }
}
TEST(gate_doze_clock_mutants, a_clock_that_is_retired_and_ends_dozes_first) {
  EXPECT_EQ((explore<clocked_dozes<detail::gates::retires_without_warning::doze_clock_protocol, asks::after_its_bell,
                                   ends::when_it_is_retired>>(2, 1)
                 .overall()),
            verdict::violated);
}
TEST(gate_doze_clock_mutants, a_clock_that_ends_and_then_says_so) {
  EXPECT_EQ(explore<clocked_dozes<detail::gates::ends_without_warning::doze_clock_protocol>>(2, 1).overall(),
            verdict::violated);
}
TEST(gate_doze_clock_mutants, a_member_that_asks_before_it_sets_its_bell) {
  EXPECT_EQ((explore<clocked_dozes<detail::gates::doze_clock_protocol, asks::before_its_bell>>(2, 1).overall()),
            verdict::violated);
}

}  // namespace
}  // namespace kgate::lab
