// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The object that heals on a machine whose processes die after a given number of steps, with locks that tell, as those
/// of the kernel do.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "checker/layered_process.hpp"
#include "explored_objects.hpp"
#include "kgate/objects/healing_object.hpp"
#include "lab/checker/properties/check.hpp"

namespace kgate::lab {

/// The nth operation of a process is its last: it dies when it has taken so many steps.
struct death {
  int process;
  int nth;
  int steps;
};
/// Which die in the model that is made next; models are made by default constructors.
inline std::vector<death> deaths;
/// Whether a dead process stays where it is, or its operation ends with a result that is none. Only the first says
/// whether what others saw is linearizable, only the second whether they all end.
inline bool dead_stay = true;

struct died {};

struct mortal_machine {
  using Memory = checker_machine::Memory;

  class Process : public layered_process<Process> {
   public:
    Process(checker_machine::Process& under, int steps) : layered_process<Process>(under), left_(steps) {}
    /// Every access of a variable begins with this.
    checker_machine::Process& step() {
      if (left_ == 0) throw died{};
      if (left_ > 0) --left_;
      return under();
    }
    template <class... T>
    void live(const T&... values) {
      under().live(left_, values...);
    }

   private:
    int left_;  // steps until death; negative: lives on
  };

  template <class T>
  class Var {
   public:
    Var(Memory& memory, variable what, T initial) : at_(memory, what, initial) {}
    T read(Process& p) { return at_.read(p.step()); }
    void write(Process& p, T value) { at_.write(p.step(), value); }
    bool compare_and_swap(Process& p, T expected, T desired) {
      return at_.compare_and_swap(p.step(), expected, desired);
    }
    T fetch_add(Process& p, T delta) { return at_.fetch_add(p.step(), delta); }
    template <class Predicate>
    T await_value(Process& p, Predicate&& until) {
      return at_.await_value(p.step(), until);
    }
    checker_machine::Var<T>& under() { return at_; }

   private:
    checker_machine::Var<T> at_;
  };
};

/// Robust futexes: a word for each lock, 0 or the owner, and a bit that the kernel sets when the owner dies.
class mortal_locks {
 public:
  using Process = mortal_machine::Process;
  static constexpr std::uint8_t owner_dead = 0x80;

  mortal_locks(mortal_machine::Memory& memory, int names)
      : words_(static_cast<std::size_t>(names), [&](std::size_t q) {
          return mortal_machine::Var<std::uint8_t>(memory, {"L", static_cast<int>(q)}, 0);
        }) {
    current = this;
  }
  detail::lock_result try_lock(Process& p, int q) {
    auto& word = words_[static_cast<std::size_t>(q)];
    const std::uint8_t seen = word.read(p);
    if (!to_be_had(seen) || !word.compare_and_swap(p, seen, owner(p.id()))) return detail::lock_result::busy;
    return seen == 0 ? detail::lock_result::locked : detail::lock_result::owner_died;
  }
  void consistent(Process&, int) {}
  void unlock(Process& p, int q) { words_[static_cast<std::size_t>(q)].write(p, 0); }

  /// Until one of the locks can be had.
  void wait(checker_machine::Process& p) {
    if (words_.size() == 1) return words_[std::size_t{0}].under().await(p["wait"], to_be_had);
    checker_machine::await_any(
        p["wait"], words_.size(), [&](std::size_t q) -> auto& { return words_[q].under(); },
        [](std::size_t, std::uint8_t seen) { return to_be_had(seen); });
  }
  /// What the kernel does when a process has died.
  void bury(checker_machine::Process& p) {
    for (auto& word : words_) {
      const std::uint8_t mine = owner(p.id());
      word.under().compare_and_swap(p["died"], mine, static_cast<std::uint8_t>(mine | owner_dead));
    }
  }

  static inline mortal_locks* current = nullptr;

 private:
  static std::uint8_t owner(process_id p) { return static_cast<std::uint8_t>(p.value + 1); }
  static bool to_be_had(std::uint8_t seen) { return seen == 0 || (seen & owner_dead) != 0; }

  fixed_array<mortal_machine::Var<std::uint8_t>> words_;
};

template <class T, class Rules>
class mortal_object {
 public:
  mortal_object(checker_machine::Memory& memory, int /*N*/, int k)
      : object_(memory, k),
        locks_(*mortal_locks::current),
        never_(memory, {.name = "never"}, false),
        deaths_(deaths),
        stay_(dead_stay) {}

  typename T::result apply(checker_machine::Process& under, const typename T::operation& op) {
    int steps = -1;
    for (const death& one : deaths_)
      if (under.id().value == one.process && op.add == amount(one.process, one.nth)) steps = one.steps;
    mortal_machine::Process p(under, steps);
    try {
      in_words<typename T::result> mine;
      if (reads_only<T>(op) && object_.try_read(p, op, mine)) return mine.value();
      while (!object_.try_apply(p, 0, op, mine)) {
        locks_.wait(p.step());
        p.live(op);
      }
      return mine.value();
    } catch (const died&) {
      locks_.bury(under);
      if (stay_) never_.await(under["dead"], [](bool risen) { return risen; });
      return {};
    }
  }

 private:
  healing_object<mortal_machine, T, at_runtime, mortal_locks, Rules> object_;
  mortal_locks& locks_;
  checker_machine::Var<bool> never_;
  std::vector<death> deaths_;
  bool stay_;
};

template <class T, class Rules = healing_rules>
using mortal_operations = operator_of<T, mortal_object<T, Rules>>;

/// Are the results of the others linearizable?
template <class T, class Rules = healing_rules>
operations_result explored_beside(const std::vector<death>& who, int N, int k, int each) {
  deaths = who;
  dead_stay = true;
  program p(make_model<mortal_operations<T, Rules>>(N, k), N, k, {.passages = each, .wrong = {}});
  return explore_operations(p, {specification<T>(), 20'000'000, {"turn", "spare", "kept"}});
}

/// Do the others end?
template <class T, class Rules = healing_rules>
verdict others_end_beside(const std::vector<death>& who, int N, int k, int each) {
  deaths = who;
  dead_stay = false;
  program p(make_model<mortal_operations<T, Rules>>(N, k), N, k, {.passages = each, .wrong = {}});
  check_request request;
  request.properties = {"deadlock-free"};
  request.crashes = 0;
  request.limits.memory_max = std::uint64_t{2} << 30;
  const check_result r = check(p, request);
  EXPECT_TRUE(r.complete) << r.why;
  return r.properties.at(0).is;
}

/// Calls act(n) for every number of steps after which process 0 may die in its nth operation.
template <class T, class Rules, class Act>
void at_every_step(int N, int k, int each, int nth, Act&& act) {
  const int most = explored_beside<T, Rules>({}, N, k, each).own_steps_max;
  EXPECT_GT(most, 10);
  for (int steps = 0; steps <= most && !testing::Test::HasFailure(); ++steps) act(death{0, nth, steps});
}

/// One dies at each of its steps in turn, in its first or second operation.
template <class T, class Rules = healing_rules>
void nothing_is_lost(int N, int k, int each, int nth) {
  std::uint64_t states = 0;
  at_every_step<T, Rules>(N, k, each, nth, [&](const death& one) {
    const operations_result r = explored_beside<T, Rules>({one}, N, k, each);
    states += r.states;
    EXPECT_TRUE(r.complete) << r.states;
    EXPECT_TRUE(r.linearizable) << "dead after " << one.steps << " steps: " << r.why;
  });
  testing::Test::RecordProperty("states", static_cast<int>(states));
}

}  // namespace kgate::lab
