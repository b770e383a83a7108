// SPDX-License-Identifier: Apache-2.0
// The catalogue's texts forget nothing that they use: every run up to some size is made once with all that was observed
// and once by the automata, which forget what the text allows.

#include <gtest/gtest.h>

#include <deque>
#include <set>

#include "checker/toy_algorithms.hpp"
#include "lab/checker/properties/check.hpp"
#include "lab/models/models.hpp"

namespace kgate::lab {
namespace {

/// Breadth first over states that keep the whole history of each process, at most `states_max` of them. Empty if every
/// step does what the automaton does, else the first difference.
std::string compare_all_runs(program& p, std::size_t states_max) {
  struct state {
    std::vector<code> values;
    std::vector<local_id> locals;
    std::vector<std::vector<code>> histories;
    auto key() const { return std::pair(values, histories); }
  };
  const auto N = static_cast<std::size_t>(p.N());
  std::set<decltype(state{}.key())> seen;
  std::deque<state> queue{{std::vector<code>(static_cast<std::size_t>(p.variables()), 0), std::vector<local_id>(N, 0),
                           std::vector<std::vector<code>>(N)}};
  seen.insert(queue.front().key());
  while (!queue.empty()) {
    const state s = std::move(queue.front());
    queue.pop_front();
    for (int q = 0; q < p.N(); ++q) {
      const local_state at = p.local(q, s.locals[q]);
      if (at.done) continue;
      const code observed = at.variable < 0 ? 0 : s.values[at.variable];
      const transition t = p.step(q, s.locals[q], observed);
      state after = s;
      after.histories[q].push_back(observed);
      const program::outcome text = p.run(q, after.histories[q]);
      const std::string where = "process " + std::to_string(q) + " at " + at.label;
      if (text.last.blocked != t.blocked) return where + " is blocked, or its automaton is";
      if (t.blocked) continue;
      if (text.last.written.has_value() != t.writes || (t.writes && *text.last.written != t.written))
        return where + " writes something else than its automaton";
      after.locals[q] = t.next;
      if (t.writes) after.values[at.variable] = t.written;
      const local_state& next = p.local(q, t.next);
      if (text.finished != next.starts_passage) return where + " ends its passage, or its automaton does";
      if (text.finished)
        after.histories[q].clear();
      else if (text.next.label != next.label || text.next.variable != next.variable || text.next.op != next.op ||
               text.next.where != next.where || text.next.name != next.name || text.next.waiting != next.waiting)
        return where + " goes on to " + text.next.label + ", its automaton to " + next.label;
      if (seen.size() < states_max && seen.insert(after.key()).second) queue.push_back(std::move(after));
    }
  }
  return "";
}

class ForgetNothing : public testing::TestWithParam<std::string> {};

TEST_P(ForgetNothing, AgreesWithTheAutomata) {
  for (const auto& [N, k] : {std::pair{2, 1}, {3, 2}}) {
    const catalog::choice algorithm = find_algorithm(GetParam());
    if (!catalog::limits_error(*algorithm.base, N, k).empty()) continue;
    program p(make_model(algorithm, N, k), N, k, {.passages = algorithm.base->bounded_variables ? 0 : 2, .wrong = {}});
    EXPECT_EQ(compare_all_runs(p, 1'500), "") << "N" << N << " k" << k;
  }
}

/// Those that poll: they have no longest passage, which could be remembered whole.
const std::set<std::string> polls{"am97-chain-dsm-small",
                                  "am97-tree-dsm-small",
                                  "am97-fastpath-tree-dsm-small",
                                  "am97-fastpath-nested-dsm-small",
                                  "danek10-kfcfs",
                                  "danek10-fife",
                                  "danek10-reset",
                                  "danek10-nonatomic",
                                  "choi11",
                                  "choi11-compact",
                                  "choi11-amortized",
                                  "choi11-linear",
                                  "choi11-as-printed",
                                  "choi11-as-printed-waits",
                                  "choi11-as-printed-blocks",
                                  "choi11-as-printed-rounding",
                                  "choi11-as-printed-patterns",
                                  "choi11-one-update",
                                  "choi11-descending",
                                  "choi11-wrapping",
                                  "afek94-fife",
                                  "afek94-bounded",
                                  "afek94-as-printed",
                                  "peterson-k",
                                  "dekker",
                                  "bakery",
                                  "burns-lynch"};
/// Those that take more than seconds so: compared above as far as that goes.
const std::set<std::string> too_large{"flbb79-bounded", "flbb79-bounded-printed-order", "flbb79-bounded-printed-test",
                                      "flbb79-fifo", "kgate-gate"};

/// The mode by which a user can ask the same: but for those that poll, every verdict is the same.
TEST_P(ForgetNothing, GivesTheSameVerdicts) {
  if (too_large.contains(GetParam())) return;
  const catalog::choice algorithm = find_algorithm(GetParam());
  std::vector<verdict> by[2];
  for (const int remembered : {0, 30}) {
    program p(make_model(algorithm, 2, 1), 2, 1, {.passages = 1, .wrong = {}, .remember_accesses = remembered});
    check_request request;
    request.of = {GetParam(), 2, 1, 1, {}};
    request.properties = {"k-exclusion", "deadlock-free", "starvation-free", "bounded-exit"};
    request.limits.memory_max = 256 << 20;
    const check_result r = check(p, request);
    for (const property_result& one : r.properties) by[remembered > 0].push_back(one.is);
    ASSERT_TRUE(r.complete || r.overall() == verdict::violated) << r.why;
    if (remembered > 0) {
      ASSERT_EQ(p.stopped_early(), polls.contains(GetParam()));
      if (p.stopped_early()) return;  // compared above as far as it goes
    }
  }
  EXPECT_EQ(by[0], by[1]);
}

std::vector<std::string> whole_catalogue() {
  std::vector<std::string> ids;
  for (const catalog::row* row : algorithm_rows()) ids.emplace_back(row->id);
  return ids;
}
INSTANTIATE_TEST_SUITE_P(Catalogue, ForgetNothing, testing::ValuesIn(whole_catalogue()), [](const auto& it) {
  std::string name = it.param;
  for (char& c : name)
    if (c == '-' || c == '+') c = '_';
  return name;
});

TEST(ForgetNothingToo, FindsWhatIsForgottenWrongly) {
  program p(make_model<toys::forgetful<checker_machine>>(2, 2), 2, 2, {});
  EXPECT_NE(compare_all_runs(p, 1'500), "");
}

/// The forgetful text violates nothing, but wrongly merged states are not what decides that any more.
TEST(ForgetNothingToo, DecidesATextThatForgetsWrongly) {
  program p(make_model<toys::forgetful<checker_machine>>(2, 2), 2, 2,
            {.passages = 0, .wrong = {}, .remember_accesses = 10});
  check_request request;
  request.of = {"toy", 2, 2, 0, {}};
  request.properties = {"k-exclusion", "starvation-free"};
  const check_result r = check(p, request);
  EXPECT_EQ(r.overall(), verdict::holds) << r.properties[0].why;
}

}  // namespace
}  // namespace kgate::lab
