// SPDX-License-Identifier: Apache-2.0
// Section 5: the runs by which the lower bounds are proved, made with every system of one variable: each row of the
// catalogue that has one, the banks of theorem 4.1, whose lock and COUNT are one variable of the paper, and their
// locks. Each run ends in a state q(i,j); had two of them the same value of the variable, a process could be kept out
// or too many let in. So where a theorem is for a system all those values must differ, and there are as many as the
// bound says. Where it is not, because any process can be overtaken for ever, they do not.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <vector>

#include "kgate/algorithms/flbb79_buffer_lock.hpp"
#include "kgate/algorithms/flbb79_number_lock.hpp"
#include "lab/checker/model/walker.hpp"
#include "lab/models/models.hpp"

namespace kgate::lab {
namespace {

/// A run of a system, by the paper's moves. Processes have the paper's numbers, from 1.
class adversary {
 public:
  explicit adversary(program& p, bool fair = true) : run_(p), fair_(fair) {}

  /// A blocked process takes, in the paper's model, a step that changes nothing.
  void step(int p) {
    if (run_.can_move(p - 1)) run_.step(p - 1);
  }
  /// p runs alone until it is there.
  void go(int p, region where) {
    for (int i = 0; run_.local(p - 1).where != where; ++i) {
      ASSERT_LT(i, 10'000) << "process " << p << " does not get there alone";
      step(p);
    }
  }
  void enter(int first, int last) {
    for (int p = first; p <= last; ++p) go(p, region::critical);
  }
  void leave(int first, int last) {
    for (int p = first; p <= last; ++p) go(p, region::remainder);
  }
  void step_each(int first, int last) {
    for (int p = first; p <= last; ++p) step(p);
  }
  /// Each enters its trying region by one step, there being no permit for it (lemma 5.2). In an unfair system it may
  /// only look.
  void arrive_each(int first, int last) {
    for (int p = first; p <= last; ++p) {
      step(p);
      if (fair_) {
        EXPECT_EQ(where(p), region::entry) << "process " << p << " is not in its trying region";
      }
    }
  }
  /// Each is the first waiter, enabled, and goes in and out by two steps.
  void pass_each(int first, int last) {
    for (int p = first; p <= last; ++p) {
      step(p);
      EXPECT_EQ(where(p), region::critical) << "process " << p << " is the first waiter and not enabled";
      step(p);
    }
  }
  /// From remainder to inside, so many times.
  void cycle(int p, int times) {
    for (int i = 0; i < times; ++i) {
      go(p, region::remainder);
      go(p, region::critical);
    }
  }
  region where(int p) const { return run_.local(p - 1).where; }
  walker::position here() const { return run_.here(); }
  void back_to(const walker::position& to) { run_.go(to); }
  /// What all variables hold: in the paper's model they are one.
  std::vector<code> value() const { return run_.here().values; }

 private:
  walker run_;
  const bool fair_;
};

struct values_met {
  std::set<std::vector<code>> different;
  std::size_t runs = 0;
  void add(const adversary& a) {
    different.insert(a.value());
    ++runs;
  }
};

/// A system for N processes and l permits.
program system_of(const std::string& id, int N, int l) {
  if (id == "buffer lock") return program(make_model<flbb79::buffer_lock<checker_machine>>(N, l), N, l, {});
  if (id == "number lock") return program(make_model<flbb79::number_lock<checker_machine>>(N, l), N, l, {});
  return program(make_model(find_algorithm(id), N, l), N, l, {});
}

/// Theorem 5.1: q(i,j) has l - i inside, the other i of the first l in their remainder, and j that have just arrived.
values_met theorem_5_1(program& p, int N, int l, bool fair = true) {
  values_met met;
  for (int i = 1; i <= l; ++i)
    for (int j = 0; j < N - l; ++j) {
      adversary a(p, fair);
      a.enter(1, l);
      a.arrive_each(l + 1, l + j);
      a.step_each(1, i);
      for (int q = 1; q <= i; ++q) EXPECT_EQ(a.where(q), region::remainder) << "the exit takes more than one step";
      met.add(a);
    }
  return met;
}

/// Theorem 5.3: q(i,j) has i - 1 enabled, l + 1 - i inside, one that waits, and j - 1 that have just arrived. One that
/// cycles b + 1 times forces another to be enabled.
values_met theorem_5_3(program& p, int N, int l, int b) {
  values_met met;
  adversary a(p);
  a.enter(2, l + 1);
  a.arrive_each(1, 1);
  for (int i = 1; i <= l; ++i) {
    const auto primary = a.here();
    for (int j = 1; j <= N - l; ++j) {
      a.back_to(primary);
      a.arrive_each(l + 2, l + j);
      met.add(a);
    }
    a.back_to(primary);
    if (i == l) break;
    a.leave(i + 1, i + 2);
    a.cycle(i + 2, b + 1);
    a.arrive_each(i + 1, i + 1);
  }
  return met;
}

/// Lemma 5.1, of N processes that take part, with l permits left for them, from a state in which all of them rest: the
/// states q(i,j) with l <= j < i <= last. Ends in q'', where one permit is free and all the others wait.
void lemma_5_1(adversary& a, int N, int l, int last, values_met& met) {
  a.enter(1, l);
  a.arrive_each(l + 1, N);
  a.leave(1, 1);
  const auto one_free = a.here();
  for (int i = l; i <= last; ++i)
    for (int j = l; j < i; ++j) {
      a.back_to(one_free);
      a.pass_each(l + 1, i);
      a.step_each(l + 1, j);
      met.add(a);
    }
  a.back_to(one_free);
}

/// Theorem 5.2 takes the states of the lemma in which process N has to wait, and then those of the others once it is
/// enabled.
void theorem_5_2(adversary& a, int N, int l, values_met& met) {
  if (N < l + 2) return;
  lemma_5_1(a, N, l, N - 2, met);
  if (l == 1) return;
  a.pass_each(l + 1, N - 1);
  a.leave(2, l);
  theorem_5_2(a, N - 1, l - 1, met);  // process N waits, enabled, and takes no more steps
}

double choose_2(int n) { return n * (n - 1) / 2.0; }

struct size {
  int N;
  int l;
};
std::ostream& operator<<(std::ostream& out, const size& s) { return out << "N=" << s.N << " l=" << s.l; }

constexpr std::array sizes{size{3, 1}, size{5, 1}, size{4, 2}, size{6, 2}, size{7, 3}};

/// Those that bear crashes, with b as in C4'.
struct robust_system {
  const char* id;
  int b;
};
constexpr std::array robust{robust_system{"flbb79-tickets", 0}, robust_system{"flbb79-bounded", 2},
                            robust_system{"flbb79-fifo", 0}, robust_system{"am97-queue", 0}, robust_system{"kgate", 0}};
/// Theorem 4.1: fair to all, if none crashes.
constexpr std::array banks{"flbb79-bank-buffer", "flbb79-bank-numbers"};
/// Of the robust ones, and with one permit the lock that hands out numbers.
constexpr std::array queuelike{"flbb79-tickets", "am97-queue"};

TEST(LowerBounds, Theorem51TakesKTimesNMinusKValues) {
  std::vector<std::string> systems(banks.begin(), banks.end());
  for (const auto& each : robust) systems.emplace_back(each.id);
  for (const std::string& id : systems)
    for (const size& s : sizes) {
      program p = system_of(id, s.N, s.l);
      const values_met met = theorem_5_1(p, s.N, s.l);
      const auto bound = static_cast<std::size_t>(s.l * (s.N - s.l));
      // With more than one permit the robust ones are fair to one that is not enabled yet, which is enough for 5.3, and
      // not to one that is enabled and stands still, as C4 and with it 5.1 asks. One of them makes use of that: it
      // forgets which are enabled. The values of the others differ all the same.
      if (id == "am97-queue" && s.l > 1) {
        EXPECT_LT(met.different.size(), bound) << s;
      } else {
        EXPECT_EQ(met.different.size(), bound) << id << " " << s;
      }
    }
}

TEST(LowerBounds, Lemma51TakesNMinusKChoose2ValuesToTheLast) {
  const auto expect = [](const std::string& id, const size& s) {
    program p = system_of(id, s.N, s.l);
    adversary a(p);
    values_met met;
    lemma_5_1(a, s.N, s.l, s.N - 1, met);
    EXPECT_EQ(met.different.size(), met.runs) << id << " " << s;
    EXPECT_EQ(static_cast<double>(met.runs), choose_2(s.N - s.l)) << id << " " << s;
  };
  for (const char* id : queuelike)
    for (const size& s : {size{3, 1}, size{5, 1}, size{7, 1}, size{6, 2}, size{8, 2}, size{7, 3}, size{9, 3}})
      expect(id, s);
  for (const int N : {3, 4, 5, 8}) expect("number lock", {N, 1});
}

TEST(LowerBounds, Theorem52TakesKTimesNMinusKMinus1Choose2Values) {
  const auto expect = [](const std::string& id, const size& s) {
    program p = system_of(id, s.N, s.l);
    adversary a(p);
    values_met met;
    theorem_5_2(a, s.N, s.l, met);
    EXPECT_EQ(met.different.size(), met.runs) << id << " " << s;
    EXPECT_EQ(static_cast<double>(met.runs), s.l * choose_2(s.N - s.l - 1)) << id << " " << s;
  };
  for (const char* id : queuelike)
    for (const size& s : {size{4, 1}, size{5, 1}, size{7, 1}, size{6, 2}, size{8, 2}, size{7, 3}, size{9, 3}})
      expect(id, s);
  for (const int N : {4, 5, 8}) expect("number lock", {N, 1});
}

TEST(LowerBounds, Theorem53TakesKTimesNMinusKValues) {
  const auto expect = [](const std::string& id, const size& s, int b) {
    program p = system_of(id, s.N, s.l);
    const values_met met = theorem_5_3(p, s.N, s.l, b);
    EXPECT_EQ(met.different.size(), static_cast<std::size_t>(s.l * (s.N - s.l))) << id << " " << s;
  };
  for (const auto& each : robust)
    for (const size& s : sizes) expect(each.id, s, each.b);
  // The theorem asks for k >= l, so one that bears no crash counts with one permit only.
  for (const char* id : {"flbb79-bank-buffer", "flbb79-bank-numbers", "buffer lock", "number lock"})
    for (const int N : {2, 3, 5, 8}) expect(id, {N, 1}, 1);
}

/// The bounds are those of fair systems. One that lets any process be overtaken for ever does not see which arrive.
constexpr std::array unfair{"flbb79-count", "fa-semaphore"};
TEST(LowerBounds, DoNotHoldForUnfairSystems) {
  for (const char* id : unfair) {
    program p = system_of(id, 6, 2);
    EXPECT_LT(theorem_5_1(p, 6, 2, false).different.size(), 8u) << id;
  }
}

TEST(LowerBounds, EveryAlgorithmOfOneVariableIsCovered) {
  // Of those kept as they were printed the theorems say nothing: they deadlock.
  std::set<std::string> covered{"flbb79-bounded-printed-order", "flbb79-bounded-printed-test"};
  covered.insert(unfair.begin(), unfair.end());
  for (const auto& each : robust) covered.insert(each.id);
  std::set<std::string> of_one_variable;
  for (const catalog::row* row : algorithm_rows())
    if (row->allowed.N_max >= 3 && system_of(std::string(row->id), 3, 1).variables() == 1)
      of_one_variable.emplace(row->id);
  EXPECT_EQ(of_one_variable, covered);
}

}  // namespace
}  // namespace kgate::lab
