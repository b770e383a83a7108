// SPDX-License-Identifier: Apache-2.0
// Texts that break a rule of the machine concept: each is reported in a sentence that names the label, and nothing is
// decided.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "checker/toy_algorithms.hpp"
#include "kgate/detail/fixed_array.hpp"
#include "lab/checker/properties/check.hpp"

namespace kgate::lab {
namespace {

using M = checker_machine;
using Process = M::Process;

/// What is said about a text of which nothing can be decided.
template <class Text>
std::string complaint(int N = 2, const std::function<void(check_request&)>& adapt = {}) {
  try {
    program p(make_model<Text>(N, N), N, N, {});
    check_request request;
    request.of = {"toy", N, N, 0, {}};
    request.properties = {"k-exclusion", "starvation-free"};
    if (adapt) adapt(request);
    const check_result r = check(p, request);
    for (const property_result& one : r.properties) EXPECT_EQ(one.is, verdict::undecided) << one.name;
    return r.properties.at(0).why;
  } catch (const text_error& e) {
    return e.what();
  }
}

#define EXPECT_COMPLAINT(text, part) EXPECT_NE(text.find(part), std::string::npos) << text

/// One shared word, and an entry and exit that a test fills in.
struct one_word {
  using Private = nothing_private;
  explicit one_word(M::Memory& memory) : X(memory, {.name = "X"}, 0) {}
  M::Var<int> X;
};

/// Reads and writes, and breaks no rule.
struct plain : one_word {
  plain(M::Memory& memory, int, int) : one_word(memory) {}
  void acquire(Process& p, Private&) {
    const int seen = X.read(p["2"]);
    X.write(p["1"], seen);
  }
  void release(Process& p, Private&) { X.write(p["3"], 0); }
};
/// The audit runs texts on what their automata observed, perhaps elsewhere.
TEST(TextRules, WhatAVariableNeverHeldEndsTheRun) {
  program p(make_model<plain>(2, 2), 2, 2, {});
  std::vector<M::made> made;
  const program::outcome after = p.run(0, {code{1} << 20}, &made);
  EXPECT_TRUE(after.last.blocked);
  EXPECT_EQ(after.label, "2");
  EXPECT_TRUE(made.empty());
}

/// Keeps what it read in a member of the class, where the next process overwrites it.
struct private_in_a_member : one_word {
  private_in_a_member(M::Memory& memory, int, int) : one_word(memory) {}
  void acquire(Process& p, Private&) {
    seen = X.read(p["1"]) + 1;
    X.write(p["2"], 1);
  }
  void release(Process& p, Private&) { X.write(p["3"], 2 - seen); }
  int seen = 0;
};
TEST(TextRules, AMemberIsNotPrivate) {
  const std::string said = complaint<private_in_a_member>();
  EXPECT_COMPLAINT(said, "a member of the algorithm's class");
  EXPECT_COMPLAINT(said, "label 2");
}

/// The same behind a pointer, where the object's bytes do not show it.
struct private_behind_a_pointer : one_word {
  private_behind_a_pointer(M::Memory& memory, int, int) : one_word(memory), last(std::make_unique<int>(0)) {}
  void acquire(Process& p, Private&) {
    *last = static_cast<int>(p.id().value);
    X.write(p["1"], 1);
  }
  void release(Process& p, Private&) { X.write(p["2"], *last); }
  std::unique_ptr<int> last;
};
TEST(TextRules, WhatIsBehindAPointerIsNotPrivateEither) {
  const std::string said = complaint<private_behind_a_pointer>();
  EXPECT_COMPLAINT(said, "does not do the same when it is run again");
  EXPECT_COMPLAINT(said, "label 2");
}

struct counting_predicate : one_word {
  counting_predicate(M::Memory& memory, int, int) : one_word(memory) {}
  void acquire(Process& p, Private&) {
    static int calls = 0;
    X.await(p["1"], [](int) { return ++calls % 3 != 0; });
  }
  void release(Process& p, Private&) { X.write(p["2"], 0); }
};
TEST(TextRules, PredicatesArePure) {
  const std::string said = complaint<counting_predicate>();
  EXPECT_COMPLAINT(said, "predicate");
  EXPECT_COMPLAINT(said, "label 1");
}

struct counting_function : one_word {
  counting_function(M::Memory& memory, int, int) : one_word(memory) {}
  void acquire(Process& p, Private&) {
    static int calls = 0;
    X.rmw(p["4"], [](int) { return ++calls; });
  }
  void release(Process& p, Private&) { X.write(p["2"], 0); }
};
TEST(TextRules, FunctionsGivenToRmwArePure) {
  const std::string said = complaint<counting_function>();
  EXPECT_COMPLAINT(said, "function");
  EXPECT_COMPLAINT(said, "label 4");
}

/// A machine calls a predicate or function as often as it likes: what a text does may not depend on how often, nor on
/// the values for which it waited on.
template <int Calls>
struct counts_predicate_calls : one_word {
  counts_predicate_calls(M::Memory& memory, int, int) : one_word(memory) {}
  void acquire(Process& p, Private&) {
    int calls = 0;
    X.await(p["1"], [&](int x) {
      ++calls;
      return x == 0;
    });
    if (calls == Calls) return;
    while (X.exchange(p["2"], 1) != 0) p.live(calls);
  }
  void release(Process& p, Private&) { X.write(p["3"], 0); }
};
struct counts_function_calls : one_word {
  counts_function_calls(M::Memory& memory, int, int) : one_word(memory), lock(memory, {.name = "lock"}, 0) {}
  void acquire(Process& p, Private&) {
    int calls = 0;
    X.rmw(p["1"], [&](int x) {
      ++calls;
      return x;
    });
    X.write(p["2"], 0);  // what it does differs later
    if (calls > 1) return;
    lock.await(p["3"], [](int held) { return held == 0; });
    lock.write(p["4"], 1);
  }
  void release(Process& p, Private&) { lock.write(p["5"], 0); }
  M::Var<int> lock;
};
struct remembers_refusals : one_word {
  remembers_refusals(M::Memory& memory, int, int) : one_word(memory) {}
  void acquire(Process& p, Private&) {
    bool waited = false;
    X.await(p["1"], [&](int x) {
      waited |= x != 0;
      return x == 0;
    });
    X.write(p["2"], 1);
    X.write(p["3"], 1);
    if (!waited) X.read(p["4"]);
  }
  void release(Process& p, Private&) { X.write(p["5"], 0); }
};
/// Keeps what the last call saw: the same, however often it is called, and whatever it was called on before.
struct keeps_the_last_value : one_word {
  keeps_the_last_value(M::Memory& memory, int, int) : one_word(memory) {}
  void acquire(Process& p, Private&) {
    int awaited = 0, found = 0;
    X.await_value(p["1"], [&](int x) {
      awaited = x;
      return x != 1;
    });
    X.rmw(p["2"], [&](int x) {
      found = x;
      return 1;
    });
    if (awaited != found) X.read(p["3"]);
  }
  void release(Process& p, Private&) { X.write(p["4"], 2); }
};
TEST(TextRules, HowOftenAPredicateIsCalledIsNothingToATest) {
  const std::string once = complaint<counts_predicate_calls<1>>();
  EXPECT_EQ(
      once,
      "the predicate given at label 1 is not pure: what process 0 does after it depends on how often it is called");
  EXPECT_EQ(complaint<counts_predicate_calls<2>>(), once);
  EXPECT_COMPLAINT(complaint<counts_predicate_calls<1000>>(),
                   "the predicate given at label 1 is not pure: what process");
  EXPECT_COMPLAINT(complaint<counts_function_calls>(),
                   "the function given at label 1 is not pure: what process 0 does after it depends on how often");
  EXPECT_COMPLAINT(
      complaint<remembers_refusals>(),
      "the predicate given at label 1 is not pure: what process 0 does after it depends on the values that "
      "it was called on before");
}
TEST(TextRules, APredicateMayKeepWhatItSawLast) {
  program p(make_model<keeps_the_last_value>(2, 2), 2, 2, {});
  check_request request;
  request.of = {"toy", 2, 2, 0, {}};
  request.properties = {"k-exclusion"};
  const check_result r = check(p, request);
  EXPECT_EQ(r.properties.at(0).is, verdict::holds) << r.properties.at(0).why;
}

/// Decides by memory that was never written. The empty asm keeps the compiler from noticing.
struct uninitialised : one_word {
  uninitialised(M::Memory& memory, int, int) : one_word(memory) {}
  void acquire(Process& p, Private&) {
    X.read(p["1"]);
    int junk[512];
    asm volatile("" : : "r"(junk) : "memory");
    int sum = 0;
    for (const int each : junk) sum |= each;
    if (sum != 0)
      X.read(p["2"]);
    else
      X.read(p["3"]);
  }
  void release(Process& p, Private&) { X.write(p["4"], 0); }
};
#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__)
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#pragma GCC diagnostic ignored "-Wuninitialized"
TEST(TextRules, MemoryIsWrittenBeforeItIsRead) { EXPECT_COMPLAINT(complaint<uninitialised>(), "never written"); }
#endif

struct idle_loop : one_word {
  idle_loop(M::Memory& memory, int, int) : one_word(memory) {}
  void acquire(Process& p, Private&) {
    const int seen = X.read(p["1"]);
    while (seen == 0) p.pause();
  }
  void release(Process& p, Private&) { X.write(p["2"], 1); }
};
TEST(TextRules, ALoopMakesAccesses) {
  const std::string said = complaint<idle_loop>();
  EXPECT_COMPLAINT(said, "loops for ever without an access");
  EXPECT_COMPLAINT(said, "label 1");
}

struct one_too_far {
  using Private = nothing_private;
  one_too_far(M::Memory& memory, int N, int)
      : Q(static_cast<std::size_t>(N),
          [&](std::size_t i) { return M::Var<int>(memory, {.name = "Q", .home = pid(static_cast<int>(i))}, 0); }) {}
  void acquire(Process& p, Private&) {
    Q[p.id()].write(p["1"], 1);
    for (std::size_t i = 0; i <= Q.size(); ++i) Q[i].read(p["2"]);
  }
  void release(Process& p, Private&) { Q[p.id()].write(p["3"], 0); }
  fixed_array<M::Var<int>> Q;
};
TEST(TextRules, ArraysAreUsedWithinTheirBounds) {
  const std::string said = complaint<one_too_far>(2);
  EXPECT_COMPLAINT(said, "element 2 of an array of 2");
  EXPECT_COMPLAINT(said, "label 2");
}

TEST(TextRules, WhatIsUsedIsNotForgotten) {
  const std::string said = complaint<toys::forgetful<M>>(3);
  EXPECT_COMPLAINT(said, "forgets what it uses");
}

/// What is forgotten matters in one passage of several hundred.
struct rarely_forgetful {
  using Private = nothing_private;
  static constexpr int round = 400;
  rarely_forgetful(M::Memory& memory, int, int)
      : X(memory, {.name = "X"}, 0), C(memory, {.name = "C"}, 0), Y(memory, {.name = "Y"}, 0) {}
  void acquire(Process& p, Private&) {
    const int seen = X.rmw(p["1"], [](int x) { return 1 - x; });
    p.live();
    const int passage = C.rmw(p["2"], [](int c) { return (c + 1) % round; });
    Y.write(p["3"], passage == round - 1 ? seen : 0);
    p.live();
  }
  void release(Process& p, Private&) { Y.write(p["4"], 0); }
  M::Var<int> X, C, Y;
};
TEST(TextRules, WhatIsUsedAfterHundredsOfPassagesIsNotForgotten) {
  EXPECT_COMPLAINT(complaint<rarely_forgetful>(2), "forgets what it uses");
}

/// Counts the rounds of a loop and does not name the count in `live`. The rounds are its own, or the others must help.
template <bool Alone>
struct counts_rounds : one_word {
  static constexpr int rounds = 400;
  counts_rounds(M::Memory& memory, int, int) : one_word(memory) {}
  void acquire(Process& p, Private&) {
    for (int round = 0; round < rounds; ++round) {
      p.live();
      if (Alone ? X.read(p["1"]) == 0 : X.compare_and_swap(p["1"], 0, 1)) break;
      if (!Alone) X.read(p["2"]);
    }
    p.live();
    X.write(p["3"], 1);
  }
  void release(Process& p, Private&) { X.write(p["4"], 0); }
};
/// What was counted shows when the loop is over, at the end of the passage.
struct counts_rounds_for_its_exit : one_word {
  using Private = int;
  counts_rounds_for_its_exit(M::Memory& memory, int, int) : one_word(memory) {}
  void acquire(Process& p, Private& rounds) {
    for (rounds = 0;; ++rounds) {
      p.live();
      if (X.compare_and_swap(p["1"], 0, 1)) break;
    }
    p.live();
    X.read(p["2"]);
    p.live();
  }
  void release(Process& p, Private& rounds) { X.write(p["3"], rounds >= 700 ? 2 : 0); }
};
/// What is forgotten is given to `live` later: that local state differs, though its access is the same.
struct remembers_too_late : one_word {
  remembers_too_late(M::Memory& memory, int, int) : one_word(memory) {}
  void acquire(Process& p, Private&) {
    const int seen = X.read(p["1"]);
    p.live();
    X.read(p["2"]);
    p.live(seen);
    X.write(p["3"], 1);
    p.live();
  }
  void release(Process& p, Private&) { X.write(p["4"], 0); }
};
TEST(TextRules, RoundsOfALoopAreNotCountedUnnamed) {
  EXPECT_COMPLAINT(complaint<counts_rounds<true>>(), "forgets what it uses");
  EXPECT_COMPLAINT(complaint<counts_rounds<false>>(), "forgets what it uses");
  EXPECT_COMPLAINT(complaint<counts_rounds_for_its_exit>(), "forgets what it uses");
  EXPECT_COMPLAINT(complaint<remembers_too_late>(), "made of one that had been forgotten");
}

/// Predicates, functions and invariants that give another answer once in hundreds of calls.
struct rarely_impure_predicate : one_word {
  rarely_impure_predicate(M::Memory& memory, int, int) : one_word(memory) {}
  void acquire(Process& p, Private&) {
    static int calls = 0;
    X.await(p["1"], [](int x) { return x == 0 || ++calls % 400 == 0; });
    X.write(p["2"], 1);
  }
  void release(Process& p, Private&) { X.write(p["3"], 0); }
};
struct rarely_impure_function : one_word {
  rarely_impure_function(M::Memory& memory, int, int) : one_word(memory) {}
  void acquire(Process& p, Private&) {
    static int calls = 0;
    X.rmw(p["1"], [](int) { return ++calls % 400 == 0 ? 2 : 1; });
  }
  void release(Process& p, Private&) { X.write(p["3"], 0); }
};
struct rarely_impure_invariant : one_word {
  rarely_impure_invariant(M::Memory& memory, int, int) : one_word(memory) {}
  void acquire(Process& p, Private&) { X.write(p["1"], 1); }
  void release(Process& p, Private&) { X.write(p["2"], 0); }
  template <class State>
  std::string broken_invariant(const State&) const {
    static int calls = 0;
    return ++calls % 400 == 0 ? "I1" : "";
  }
};
TEST(TextRules, WhatIsSeldomImpureIsFoundToo) {
  EXPECT_COMPLAINT(complaint<rarely_impure_predicate>(), "the predicate given at label 1 is not pure");
  EXPECT_COMPLAINT(complaint<rarely_impure_function>(), "the function given at label 1 is not pure");
  const auto with_invariant = [](check_request& r) { r.properties.emplace_back("invariant"); };
  EXPECT_COMPLAINT(complaint<rarely_impure_invariant>(2, with_invariant), "the invariant is not pure");
}

/// A text that throws, or whose invariant does.
struct throwing : one_word {
  throwing(M::Memory& memory, int, int) : one_word(memory) {}
  void acquire(Process& p, Private&) {
    if (X.read(p["1"]) == 1) throw std::runtime_error("no more");
    X.write(p["2"], 1);
  }
  void release(Process& p, Private&) { X.read(p["3"]); }
};
struct throwing_invariant : one_word {
  throwing_invariant(M::Memory& memory, int, int) : one_word(memory) {}
  void acquire(Process& p, Private&) { X.write(p["1"], 1); }
  void release(Process& p, Private&) { X.write(p["2"], 0); }
  template <class State>
  std::string broken_invariant(const State& s) const {
    if (s.value(X) == 1) throw std::runtime_error("one");
    return "";
  }
};
TEST(TextRules, ExceptionsAreNamed) {
  const std::string said = complaint<throwing>();
  EXPECT_COMPLAINT(said, "throws an exception, after label 1: no more");
  const auto with_invariant = [](check_request& r) { r.properties.emplace_back("invariant"); };
  EXPECT_COMPLAINT(complaint<throwing_invariant>(2, with_invariant), "the invariant throws an exception: one");
}

/// The same seed compares the same.
TEST(TextRules, TheAuditIsReproducible) {
  const auto audited = [](std::uint64_t seed) {
    program p(make_model<toys::branches<M>>(3, 2), 3, 2, {});
    check_request request;
    request.of = {"toy", 3, 2, 0, {}};
    request.properties = {"k-exclusion"};
    request.seed = seed;
    const audit_result r = check(p, request).audit;
    EXPECT_EQ(r.merged.made, r.merged.all);
    EXPECT_GT(r.merged.all, 0U);
    EXPECT_EQ(r.loops.made, r.loops.all);
    EXPECT_EQ(r.steps_again.made, r.steps_again.all);
    return std::pair{r.accesses, r.passages};
  };
  EXPECT_EQ(audited(1), audited(1));
  EXPECT_NE(audited(1), audited(2));
}

/// Favours process 0, by an access that the others do not make.
struct favours_process_0 : one_word {
  favours_process_0(M::Memory& memory, int, int) : one_word(memory) {}
  void acquire(Process& p, Private&) {
    if (p.id().value == 0)
      X.read(p["1"]);
    else
      X.write(p["2"], 1);
  }
  void release(Process& p, Private&) { X.write(p["3"], 0); }
};
/// The same by the value it writes: all processes stand at the same labels.
struct writes_its_number : one_word {
  writes_its_number(M::Memory& memory, int, int) : one_word(memory) {}
  void acquire(Process& p, Private&) { X.write(p["1"], static_cast<int>(p.id().value) + 1); }
  void release(Process& p, Private&) { X.read(p["2"]); }
};
TEST(TextRules, SymmetryIsNotClaimedWrongly) {
  const auto by_symmetry = [](check_request& r) { r.symmetry = true; };
  const std::string said = complaint<favours_process_0>(3, by_symmetry);
  EXPECT_COMPLAINT(said, "not symmetric in its processes");
  EXPECT_COMPLAINT(said, "label 1");
  EXPECT_COMPLAINT(complaint<writes_its_number>(3, by_symmetry), "not symmetric in its processes");
}

/// Polls, and remembers how often.
struct polls_and_remembers : one_word {
  polls_and_remembers(M::Memory& memory, int, int) : one_word(memory) {}
  void acquire(Process& p, Private&) {
    while (X.read(p["1"]) != 0) p.pause();
    X.write(p["2"], 1);
  }
  void release(Process& p, Private&) { X.write(p["3"], 0); }
};
TEST(TextRules, PollingForgets) {
  const std::string said = complaint<polls_and_remembers>(2, [](check_request& r) { r.limits.memory_max = 24 << 20; });
  EXPECT_COMPLAINT(said, "without forgetting any");
  EXPECT_COMPLAINT(said, "label 1");
}

/// Loops without any call on the machine, which nothing inside the run can end; before its first access or after it.
template <bool AtOnce>
struct silent_loop : one_word {
  silent_loop(M::Memory& memory, int, int) : one_word(memory) {}
  struct found {};
  void acquire(Process& p, Private&) {
    if (!AtOnce) X.read(p["1"]);
    while (!over.load()) {
    }
    throw found{};
  }
  void release(Process& p, Private&) { X.write(p["2"], 1); }
  static inline std::atomic<bool> over{false};
};

/// What the watch says of a run without end. `hurry`: the user has asked to stop.
template <class Text>
std::string said_of_endless_run(std::chrono::milliseconds run_max, bool hurry) {
  std::string said;
  const std::atomic<bool> stop_requested{hurry};
  program_options options;
  options.monitor = std::make_shared<run_monitor>();
  const endless_run_watch watch(*options.monitor, {.run_max = run_max, .hurry = &stop_requested},
                                [&](const std::string& what) {
                                  said = what;
                                  Text::over = true;  // lets the test go on
                                });
  try {
    program p(make_model<Text>(2, 2), 2, 2, options);
    check_request request;
    request.of = {"toy", 2, 2, 0, {}};
    request.properties = {"k-exclusion"};
    EXPECT_TRUE(check(p, request).breaks_rules) << "the loop has ended";
  } catch (const text_error&) {  // before its first access
  }
  Text::over = false;
  return said;
}
TEST(TextRules, ALocalLoopWithoutEndIsFoundFromOutside) {
  using std::chrono::milliseconds;
  for (const bool hurry : {false, true}) {
    const milliseconds run_max = hurry ? milliseconds(2000) : milliseconds(200);
    const std::string later = said_of_endless_run<silent_loop<false>>(run_max, hurry);
    EXPECT_COMPLAINT(later, "loops for ever without an access");
    EXPECT_COMPLAINT(later, "label 1");
    EXPECT_COMPLAINT(said_of_endless_run<silent_loop<true>>(run_max, hurry), "before its first access");
  }
}

}  // namespace
}  // namespace kgate::lab
