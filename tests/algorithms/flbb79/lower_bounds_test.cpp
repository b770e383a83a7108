// SPDX-License-Identifier: Apache-2.0
// Section 5: the runs by which the lower bounds are proved, made with the robust systems of one variable that each is
// for: 5.1 and 5.3 with tickets, buckets and the queue, 5.2 with tickets. Each run ends in a state q(i,j); had two of
// them the same value of the variable, somebody could be kept out or too many let in. So all those values must differ,
// and there are as many as the bound says.

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "lab/checker/model/walker.hpp"
#include "lab/models/models.hpp"

namespace kgate::lab {
namespace {

/// A run of a system of one variable, by the paper's moves. Processes have the paper's numbers, from 1.
class adversary {
 public:
  explicit adversary(program& p) : run_(p) { EXPECT_EQ(p.variables(), 1); }

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
  /// Each is the first in line, enabled, and goes in and out by two steps.
  void pass_each(int first, int last) {
    for (int p = first; p <= last; ++p) {
      step(p);
      EXPECT_EQ(where(p), region::critical) << "process " << p << " is the first in line and not enabled";
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
  code value() const { return run_.value(0); }

 private:
  walker run_;
};

struct values_met {
  std::set<code> different;
  std::size_t runs = 0;
  void add(const adversary& a) {
    different.insert(a.value());
    ++runs;
  }
};

/// A system whose shared memory is one variable.
program one_variable(const std::string& id, int N, int l) {
  return program(make_model(find_algorithm(id), N, l), N, l, {});
}

/// Theorem 5.1: q(i,j) has l - i inside, the other i of the first l in their remainder, and j that have just arrived.
values_met theorem_5_1(program& p, int N, int l) {
  values_met met;
  for (int i = 1; i <= l; ++i)
    for (int j = 0; j < N - l; ++j) {
      adversary a(p);
      a.enter(1, l);
      a.step_each(l + 1, l + j);
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
  a.step(1);
  for (int i = 1; i <= l; ++i) {
    const auto primary = a.here();
    for (int j = 1; j <= N - l; ++j) {
      a.back_to(primary);
      a.step_each(l + 2, l + j);
      met.add(a);
    }
    a.back_to(primary);
    if (i == l) break;
    a.leave(i + 1, i + 2);
    a.cycle(i + 2, b + 1);
    a.step(i + 1);
  }
  return met;
}

/// Theorem 5.2: of N processes that take part, with l places left for them, from a state in which all of them rest.
void theorem_5_2(adversary& a, int N, int l, values_met& met) {
  if (N < l + 2) return;
  a.enter(1, l);
  a.step_each(l + 1, N);
  a.leave(1, 1);
  const auto one_free = a.here();
  for (int i = l; i <= N - 2; ++i)
    for (int j = l; j < i; ++j) {
      a.back_to(one_free);
      a.pass_each(l + 1, i);
      a.step_each(l + 1, j);
      met.add(a);
    }
  if (l == 1) return;
  a.back_to(one_free);
  a.pass_each(l + 1, N - 1);
  a.leave(2, l);
  theorem_5_2(a, N - 1, l - 1, met);  // process N waits, enabled, and takes no more steps
}

double choose_2(int n) { return n * (n - 1) / 2.0; }

TEST(LowerBounds, Theorem51TakesKTimesNMinusKValues) {
  for (const char* id : {"flbb79-tickets", "flbb79-bounded", "flbb79-fifo"})
    for (const auto& [N, l] : {std::pair{3, 1}, {5, 1}, {4, 2}, {6, 2}, {7, 3}}) {
      program p = one_variable(id, N, l);
      const values_met met = theorem_5_1(p, N, l);
      EXPECT_EQ(met.different.size(), static_cast<std::size_t>(l * (N - l))) << id << " N=" << N << " l=" << l;
    }
}

TEST(LowerBounds, Theorem52TakesKTimesNMinusKMinus1Choose2Values) {
  for (const auto& [N, l] : {std::pair{4, 1}, {5, 1}, {7, 1}, {6, 2}, {8, 2}, {7, 3}, {9, 3}}) {
    program p = one_variable("flbb79-tickets", N, l);
    adversary a(p);
    values_met met;
    theorem_5_2(a, N, l, met);
    EXPECT_EQ(met.different.size(), met.runs) << "N=" << N << " l=" << l;
    EXPECT_EQ(static_cast<double>(met.runs), l * choose_2(N - l - 1)) << "N=" << N << " l=" << l;
  }
}

TEST(LowerBounds, Theorem53TakesKTimesNMinusKValues) {
  for (const auto& [id, b] : {std::pair{"flbb79-tickets", 0}, {"flbb79-bounded", 2}, {"flbb79-fifo", 0}})
    for (const auto& [N, l] : {std::pair{3, 1}, {5, 1}, {4, 2}, {6, 2}, {7, 3}}) {
      program p = one_variable(id, N, l);
      const values_met met = theorem_5_3(p, N, l, b);
      EXPECT_EQ(met.different.size(), static_cast<std::size_t>(l * (N - l))) << id << " N=" << N << " l=" << l;
    }
}

/// The bounds are those of fair systems. COUNT, which lets anybody be overtaken for ever, does not see who arrives.
TEST(LowerBounds, DoNotHoldForUnfairSystems) {
  for (const char* id : {"flbb79-count", "fa-semaphore"}) {
    program p = one_variable(id, 6, 2);
    EXPECT_LT(theorem_5_1(p, 6, 2).different.size(), 8u) << id;
  }
}

}  // namespace
}  // namespace kgate::lab
