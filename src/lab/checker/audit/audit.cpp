// SPDX-License-Identifier: Apache-2.0
#include "lab/checker/audit/audit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "lab/checker/audit/local_audit.hpp"
#include "lab/checker/model/walker.hpp"

namespace kgate::lab {

namespace {

/// A random run of the automata, with everything each process observed in its present passage.
class audited_walk final : public state_view {
 public:
  audited_walk(program& p, std::mt19937_64& random, const audit_options& options, audit_result& result)
      : program_(p),
        random_(random),
        options_(options),
        result_(result),
        values_(static_cast<std::size_t>(p.variables()), 0),
        participants_(static_cast<std::size_t>(p.N())) {
    for (int q = 0; q < p.N(); ++q) participants_[q].at = 0;
  }

  void follow(const std::vector<int>& schedule) {
    for (const int entry : schedule)
      if (!step(scheduled_process(entry), scheduled_choice(entry))) return;
  }

  /// At most `steps` steps; a process makes up to 2^`stay` of them before another is chosen.
  void run(int steps, unsigned stay) {
    int q = -1;
    std::uint64_t left = 0;
    for (int i = 0; i < steps && result_.difference.empty(); ++i, --left) {
      if (left == 0 || !can_move(q)) {
        q = any_movable();
        left = std::uint64_t{1} << random_() % (stay + 1);
      }
      if (q < 0 || !step(q, static_cast<int>(random_() % static_cast<unsigned>(choices(q))))) return;
    }
  }

  /// Compares the passages that go on, and whether those that cannot move are blocked in the text as well.
  void end() {
    for (int q = 0; q < program_.N() && result_.difference.empty(); ++q) {
      const bool dead = program_.mortal() && participants_[q].at == program::dead;  // it was compared when it died
      if (dead || !compare(q) || local(q).done || can_move(q)) continue;
      std::vector<code> history = participants_[q].history;
      history.push_back(seen(q, 0));
      if (!program_.run(q, history).last.blocked)
        result_.difference = fmt::format("process {} can move at {}, its automaton is blocked", q, local(q).label);
    }
    if (program_.has_invariant() && result_.difference.empty()) repeat_invariant();
  }

  const std::string& value(int v) const override {
    return program_.variable(v).values.bytes(values_[static_cast<std::size_t>(v)]);
  }
  region where(int q) const override { return local(q).where; }
  int name(int q) const override { return local(q).name; }
  std::string_view label(int q) const override { return local(q).label; }
  bool waiting(int q) const override { return local(q).waiting; }

 private:
  struct participant {
    local_id at = 0;
    std::vector<code> history;                          ///< what it observed since its passage began
    std::vector<std::pair<local_id, transition>> path;  ///< what its automaton did
  };

  void repeat_invariant() {
    const bool broken = !program_.broken_invariant(*this).empty();
    for (int i = 0; i < predicate_repeats; ++i)
      if (program_.broken_invariant(*this).empty() == broken)
        throw text_error("the invariant is not pure: it says two things of one state");
    result_.accesses += predicate_repeats / 10;
  }
  const local_state& local(int q) const { return program_.local(q, participants_[q].at); }
  bool reads_during_write(int q) const {
    const local_state& at = local(q);
    return at.op == operation::read && program_.variable(at.variable).safe() &&
           values_[at.variable] == program_.variable(at.variable).unstable;
  }
  int choices(int q) const {
    return reads_during_write(q) ? static_cast<int>(program_.variable(local(q).variable).domain.size()) : local(q).ways;
  }
  code seen(int q, int choice) const {
    const int v = local(q).variable;
    if (v < 0) return 0;
    return reads_during_write(q) ? program_.variable(v).domain[static_cast<std::size_t>(choice)]
                                 : seen_by_way(values_[v], local(q).ways > 1 ? choice : 0);
  }
  bool can_move(int q) { return !local(q).done && !program_.step(q, participants_[q].at, seen(q, 0)).blocked; }
  int any_movable() {
    const int N = program_.N();
    const int first = static_cast<int>(random_() % static_cast<unsigned>(N));
    for (int i = 0; i < N; ++i)
      if (const int q = (first + i) % N; can_move(q)) return q;
    return -1;
  }

  /// False if the walk must end.
  bool step(int q, int choice) {
    participant& it = participants_[q];
    const local_state& at = local(q);
    if (choice == death_choice) {
      if (!compare(q)) return false;
      code& value = values_[static_cast<std::size_t>(program_.death_variable())];
      value = program_.after_death(q, value);
      it = {program::dead, {}, {}};
      return true;
    }
    const code observed = seen(q, choice);
    const transition t = program_.step(q, it.at, observed);
    if (at.done || t.blocked) return false;
    ++result_.steps;
    it.history.push_back(observed);
    it.path.push_back({it.at, t});
    if (t.writes) values_[at.variable] = t.written;
    it.at = t.next;
    if (options_.invariant_holds && !program_.broken_invariant(*this).empty())
      throw text_error("the invariant is not pure: it is false in a state in which it was true before");
    if (local(q).starts_passage) {
      ++result_.passages;
      return compare(q, true);
    }
    return it.history.size() < passage_max;
  }

  /// Runs the text on all q has observed in this passage. False, with the difference noted, if it does something else.
  bool compare(int q, bool ended = false) {
    participant& it = participants_[q];
    std::vector<checker_machine::made> text;
    const program::outcome after = program_.run(q, it.history, &text);
    result_.accesses += it.history.size();
    for (std::size_t i = 0; i < it.path.size(); ++i) {
      const auto& [at, made] = it.path[i];
      if (i < text.size() && audit_agrees(text[i], program_.local(q, at), made)) continue;
      result_.difference =
          audit_difference(program_, q, program_.local(q, at), made, i < text.size() ? &text[i] : nullptr, after);
      program_.require_pure(q, it.history, {.times = predicate_repeats});
      return false;
    }
    const local_state& at = local(q);
    if (after.finished != ended)
      result_.difference =
          fmt::format("process {} and its automaton disagree whether the passage ends at {}", q, at.label);
    else if (!ended && !at.done)
      result_.difference = audit_difference(program_, q, at, after);
    if (!result_.difference.empty()) program_.require_pure(q, it.history, {.times = predicate_repeats});
    if (ended) {
      it.history.clear();
      it.path.clear();
    }
    return result_.difference.empty();
  }

  program& program_;
  std::mt19937_64& random_;
  const audit_options& options_;
  audit_result& result_;
  std::vector<code> values_;
  std::vector<participant> participants_;
};

}  // namespace

audit_result audit(program& p, const audit_options& options) {
  constexpr std::array<unsigned, 4> stays{0, 2, 6, 13};  // from a crowd to one process for thousands of steps
  const auto begin = std::chrono::steady_clock::now();
  std::mt19937_64 random(options.seed);
  audit_result result;
  const std::uint64_t until = options.accesses / 8;
  while (result.difference.empty() &&
         (result.walks < static_cast<std::uint64_t>(options.walks) || result.accesses < until)) {
    audited_walk walk(p, random, options, result);
    if (options.start && result.walks % 2 == 1) walk.follow(options.start(random));
    walk.run(options.steps, stays[result.walks / 2 % stays.size()]);
    walk.end();
    ++result.walks;
    result.accesses += 1;  // a walk that cannot move
  }
  // What one part does not need, the next ones may use.
  const std::uint64_t each = options.accesses / 8 / static_cast<std::uint64_t>(p.N());
  std::uint64_t allowed = result.accesses;
  const auto more = [&](std::uint64_t parts) {
    allowed += parts * each;
    return allowed > result.accesses ? allowed - result.accesses : 0;
  };
  for (int q = 0; q < p.N() && result.difference.empty(); ++q) {
    local_audit one(p, q, random, result);
    one.run_steps_again(more(2));
    one.continue_merged(more(2));
    one.go_round_loops(more(2));
    one.walk(std::min(each, more(1)));
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return result;
}

}  // namespace kgate::lab
