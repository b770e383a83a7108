// SPDX-License-Identifier: Apache-2.0
#include "lab/checker/model/audit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "lab/checker/model/walker.hpp"

namespace kgate::lab {

namespace {

/// A passage longer than this is compared and the walk ended.
constexpr std::size_t passage_max = 20'000;

/// A random run of the automata, with everything each process observed in its present passage.
class audited_walk {
 public:
  audited_walk(program& p, std::mt19937_64& random, audit_result& result)
      : program_(p),
        random_(random),
        result_(result),
        values_(static_cast<std::size_t>(p.variables()), 0),
        participants_(static_cast<std::size_t>(p.N())) {
    for (int q = 0; q < p.N(); ++q) participants_[q].at = 0;
  }

  void follow(const std::vector<int>& schedule) {
    for (const int entry : schedule)
      if (!step(scheduled_process(entry), scheduled_choice(entry))) return;
  }

  /// At most `steps` steps; with probability `stay` (in percent) the process that has just moved moves again.
  void run(int steps, unsigned stay) {
    int q = -1;
    for (int i = 0; i < steps && result_.difference.empty(); ++i) {
      if (q < 0 || random_() % 100 >= stay || !can_move(q)) q = any_movable();
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
  }

 private:
  struct participant {
    local_id at = 0;
    std::vector<code> history;                    ///< what it observed since its passage began
    std::vector<checker_machine::made> accesses;  ///< what its automaton did
  };

  const local_state& local(int q) const { return program_.local(q, participants_[q].at); }
  bool reads_during_write(int q) const {
    const local_state& at = local(q);
    return at.op == operation::read && program_.variable(at.variable).safe() &&
           values_[at.variable] == program_.variable(at.variable).unstable;
  }
  int choices(int q) const {
    return reads_during_write(q) ? static_cast<int>(program_.variable(local(q).variable).domain.size()) : 1;
  }
  code seen(int q, int choice) const {
    const int v = local(q).variable;
    if (v < 0) return 0;
    return reads_during_write(q) ? program_.variable(v).domain[static_cast<std::size_t>(choice)] : values_[v];
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
    it.accesses.push_back({at.op, at.variable, at.label.c_str(), at.where, at.waiting, at.name,
                           t.writes ? std::optional<code>(t.written) : std::nullopt});
    if (t.writes) values_[at.variable] = t.written;
    it.at = t.next;
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
    for (std::size_t i = 0; i < it.accesses.size(); ++i) {
      if (i < text.size() && text[i] == it.accesses[i]) continue;
      result_.difference = difference(q, it.accesses[i], i < text.size() ? &text[i] : nullptr, after);
      return false;
    }
    const local_state& at = local(q);
    if (after.finished != ended)
      result_.difference =
          fmt::format("process {} and its automaton disagree whether the passage ends at {}", q, at.label);
    else if (!ended && !at.done &&
             (after.next.op != at.op || after.next.variable != at.variable || after.next.label != at.label ||
              after.next.where != at.where || after.next.waiting != at.waiting || after.next.name != at.name))
      result_.difference =
          fmt::format("process {} is about to {} {} at {}, its automaton to {} {} at {}", q, to_string(after.next.op),
                      name(after.next.variable), after.next.label, to_string(at.op), name(at.variable), at.label);
    if (ended) {
      it.history.clear();
      it.accesses.clear();
    }
    return result_.difference.empty();
  }

  std::string name(int v) const { return v < 0 ? "nothing" : program_.variable(v).name; }
  std::string written(const checker_machine::made& it) const {
    return it.written ? fmt::format(" := {}", program_.variable(it.variable).text(*it.written)) : "";
  }
  std::string difference(int q, const checker_machine::made& automaton, const checker_machine::made* text,
                         const program::outcome& after) const {
    const std::string is = fmt::format("its automaton makes {} {}{} at {}", to_string(automaton.op),
                                       name(automaton.variable), written(automaton), automaton.label);
    if (text == nullptr)
      return fmt::format("process {} {} at {}, {}", q, after.last.blocked ? "is blocked" : "has finished",
                         automaton.label, is);
    return fmt::format("process {} makes {} {}{} at {}, {}", q, to_string(text->op), name(text->variable),
                       written(*text), text->label, is);
  }

  program& program_;
  std::mt19937_64& random_;
  audit_result& result_;
  std::vector<code> values_;
  std::vector<participant> participants_;
};

}  // namespace

audit_result audit(program& p, const audit_options& options) {
  constexpr std::array<unsigned, 4> stays{0, 50, 90, 98};  // from a crowd to one process at a time
  using clock = std::chrono::steady_clock;
  const auto begin = clock::now();
  std::mt19937_64 random(options.seed);
  audit_result result;
  const auto goes_on = [&] {
    result.seconds = std::chrono::duration<double>(clock::now() - begin).count();
    return result.walks < static_cast<std::uint64_t>(options.walks) || result.seconds < options.seconds;
  };
  for (; result.difference.empty() && goes_on(); ++result.walks) {
    audited_walk walk(p, random, result);
    if (options.start && result.walks % 2 == 1) walk.follow(options.start(random));
    walk.run(options.steps, stays[result.walks / 2 % stays.size()]);
    walk.end();
  }
  return result;
}

}  // namespace kgate::lab
