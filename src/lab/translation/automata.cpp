// SPDX-License-Identifier: Apache-2.0
#include "lab/translation/automata.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "kgate/detail/contracts.hpp"

namespace kgate::lab {

namespace {

/// Words of the languages, and of the texts' own, that no variable may have as its name.
constexpr std::array reserved{
    "active", "always", "and",     "assert",   "atomic",    "bit",      "bool",       "break",    "byte",      "chan",
    "d_step", "do",     "else",    "empty",    "enabled",   "enter",    "eventually", "eval",     "fi",        "for",
    "full",   "goto",   "hidden",  "if",       "in",        "init",     "inline",     "inside",   "int",       "len",
    "local",  "ltl",    "me",      "mtype",    "never",     "nfull",    "nempty",     "next",     "nobody",    "od",
    "of",     "pc",     "printf",  "priority", "proctype",  "provided", "process",    "run",      "select",    "short",
    "show",   "skip",   "timeout", "trace",    "true",      "typedef",  "unless",     "unsigned", "until",     "vars",
    "xr",     "xs",     "N",       "K",        "Init",      "Next",     "Spec",       "Step",     "Processes", "Inside",
    "CASE",   "CHOOSE", "DOMAIN",  "ELSE",     "EXCEPT",    "IF",       "IN",         "LET",      "MODULE",    "OTHER",
    "SUBSET", "THEN",   "UNION",   "WITH",     "Exclusion", "release",  "remainder",  "return",   "Remainder", "false"};

std::string identifier(const std::string& text) {
  std::string name;
  for (const char c : text) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    const bool digit = c >= '0' && c <= '9';
    if (c == '\'')
      name += "prime";
    else
      name += letter || digit ? c : '_';
  }
  return name;
}

/// As Promela's largest type has it: what does not fit is numbered like a value that is no number.
std::optional<long> number_in(const std::string& text) {
  std::int32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// The values of one variable as numbers.
class value_numbers {
 public:
  value_numbers(const shared_variable& v, int N) : of_(v), N_(N) {
    std::set<std::string> texts;
    for (code c = 0; c < v.values.size(); ++c)
      if (!unstable(c)) texts.insert(v.text(c));
    boolean_ = std::all_of(texts.begin(), texts.end(), [](const auto& t) { return t == "true" || t == "false"; });
    const bool numbers =
        std::all_of(texts.begin(), texts.end(), [](const auto& t) { return number_in(t).has_value(); });
    if (!boolean_ && !v.names_process && !numbers) texts_.assign(texts.begin(), texts.end());
    for (code c = 0; c < v.values.size(); ++c)
      if (!unstable(c)) note(number(c));
    if (v.safe()) note(unstable_ = highest_ + 1);
  }

  long number(code c) const {
    if (unstable(c)) return unstable_;
    if (of_.names_process) {
      const auto p = from_bytes<process_id>(of_.values.bytes(c));
      return p == nobody ? N_ : p.value;
    }
    const std::string text = of_.text(c);
    if (boolean_) return text == "true" ? 1 : 0;
    if (texts_.empty()) return *number_in(text);
    return std::lower_bound(texts_.begin(), texts_.end(), text) - texts_.begin();
  }
  value_term term(code c, int p) const {
    if (of_.names_process && !unstable(c) && number(c) == p) return {-1, true};
    return {number(c), false};
  }
  /// Whether values can be added to.
  bool countable() const { return !boolean_ && texts_.empty() && !of_.names_process && !of_.safe(); }

  void describe(translated_variable& v) const {
    v.boolean = boolean_ && !of_.safe();
    v.processes = of_.names_process;
    v.initial = number(0);
    v.lowest = std::min(v.lowest, lowest_);
    v.highest = std::max(v.highest, highest_);
    v.texts = texts_;
    v.unstable = of_.safe() ? unstable_ : -1;
  }

 private:
  bool unstable(code c) const { return of_.safe() && c == of_.unstable; }
  void note(long n) {
    lowest_ = std::min(lowest_, n);
    highest_ = std::max(highest_, n);
  }

  const shared_variable& of_;
  int N_;
  bool boolean_ = false;
  std::vector<std::string> texts_;  // sorted
  long lowest_ = 0;
  long highest_ = 0;
  long unstable_ = -1;
};

guard guard_for(std::vector<value_term> values, const std::vector<value_term>& all) {
  std::sort(values.begin(), values.end());
  if (values.size() == all.size()) return {};
  if (values.size() == 1) return {guard::kind::is, values};
  const bool has_own = std::any_of(values.begin(), values.end(), [](const value_term& v) { return v.own; });
  if (!has_own && values.size() + 1 == all.size()) {
    const auto own = std::find_if(all.begin(), all.end(), [](const value_term& v) { return v.own; });
    if (own != all.end()) return {guard::kind::is_not, {*own}};
  }
  const bool dense = values.back().number - values.front().number + 1 == static_cast<long>(values.size());
  if (!has_own && dense) return {guard::kind::range, {values.front(), values.back()}};
  return {guard::kind::one_of, values};
}

class translation {
 public:
  translation(const exploration& e, const std::string& algorithm) : from_(e.table->source()) {
    made_.algorithm = algorithm;
    made_.N = from_.N();
    made_.k = from_.k();
    made_.passages = from_.options().passages;
    made_.states = e.states;
    made_.transitions = e.transitions;
  }

  translated_program run() {
    KGATE_EXPECTS(!from_.mortal(), "deaths cannot be translated");
    for (int v = 0; v < from_.variables(); ++v) numbers_.emplace_back(from_.variable(v), from_.N());
    name_variables();
    for (int p = 0; p < from_.N(); ++p) add_process(p);
    return std::move(made_);
  }

 private:
  /// P[0], P[1], ... become one array if there is one for each process and all begin alike.
  void name_variables() {
    std::map<std::string, std::vector<int>> families;
    for (int v = 0; v < from_.variables(); ++v) families[family(v)].push_back(v);
    translated_.resize(static_cast<std::size_t>(from_.variables()));
    std::set<std::string> used(reserved.begin(), reserved.end());
    for (int v = 0; v < from_.variables(); ++v) {
      const std::vector<int>& all = families[family(v)];
      const bool array = is_array(all);
      if (array && v != all.front()) continue;
      translated_variable& one = made_.variables.emplace_back();
      one.array = array;
      one.paper_name = array ? family(v) : from_.variable(v).name;
      one.name = identifier(array ? family(v) : trimmed(from_.variable(v).name));
      while (!used.insert(one.name).second) one.name += '_';
      const int index = static_cast<int>(made_.variables.size()) - 1;
      for (const int member : array ? all : std::vector<int>{v}) {
        numbers_[static_cast<std::size_t>(member)].describe(one);
        translated_[static_cast<std::size_t>(member)] = {index, array ? home(member) : -1};
      }
    }
  }
  static std::string trimmed(std::string name) {
    while (!name.empty() && name.back() == ']') name.pop_back();
    return name;
  }
  int home(int v) const { return from_.variable(v).home == nobody ? -1 : from_.variable(v).home.value; }
  std::string family(int v) const {
    const std::string& name = from_.variable(v).name;
    return home(v) < 0 ? name : name.substr(0, name.rfind('['));
  }
  bool is_array(const std::vector<int>& all) const {
    if (static_cast<int>(all.size()) != from_.N() || home(all[0]) < 0) return false;
    translated_variable first;
    numbers_[static_cast<std::size_t>(all[0])].describe(first);
    for (int i = 0; i < from_.N(); ++i) {
      translated_variable one;
      const int v = all[static_cast<std::size_t>(i)];
      numbers_[static_cast<std::size_t>(v)].describe(one);
      if (home(v) != i || one.initial != first.initial || one.texts != first.texts || one.unstable != first.unstable)
        return false;
    }
    return true;
  }

  struct known_step {
    code seen = 0;
    transition does;
  };

  void add_process(int p) {
    automaton_group group;
    group.first = group.last = p;
    steps_.assign(from_.locals(p), {});
    from_.for_each_step(p, [&](local_id s, code seen, const transition& t) { steps_[s].push_back({seen, t}); });
    number_of_.clear();
    names_.clear();
    std::vector<local_id> order;
    const auto number = [&](local_id s) {
      const auto [at, fresh] = number_of_.try_emplace(s, static_cast<int>(order.size()));
      if (fresh) order.push_back(s);
      return at->second;
    };
    number(0);
    for (std::size_t i = 0; i < order.size(); ++i) group.locations.push_back(location_of(p, order[i], number));
    if (!made_.groups.empty() && made_.groups.back().locations == group.locations)
      made_.groups.back().last = p;
    else
      made_.groups.push_back(std::move(group));
  }

  template <class Number>
  automaton_location location_of(int p, local_id s, Number&& number) {
    const local_state& here = from_.local(p, s);
    automaton_location made;
    made.label = here.label;
    made.name = "at_" + identifier(here.label);
    if (const int twin = ++names_[made.name]; twin > 1) made.name += "_" + std::to_string(twin);
    made.op = here.op;
    made.where = here.where;
    made.done = here.done;
    if (here.done) {
      made.name = "end_done";  // for Spin: it may stay there
      return made;
    }
    if (here.variable >= 0) {
      const auto [variable, element] = translated_[static_cast<std::size_t>(here.variable)];
      made.variable = variable;
      made.element = element == p ? own_element : element;
    }
    add_moves(made, p, s, number);
    return made;
  }

  template <class Number>
  void add_moves(automaton_location& made, int p, local_id s, Number&& number) {
    const local_state& here = from_.local(p, s);
    const value_numbers* values = here.variable >= 0 ? &numbers_[static_cast<std::size_t>(here.variable)] : nullptr;
    const auto seen_as = [&](code c) { return values == nullptr ? value_term{} : values->term(c, p); };
    std::vector<known_step>& steps = steps_[s];
    std::sort(steps.begin(), steps.end(),
              [&](const known_step& a, const known_step& b) { return seen_as(a.seen) < seen_as(b.seen); });
    std::vector<value_term> all;
    std::vector<automaton_move> moves;
    std::vector<std::vector<value_term>> seen_by;
    for (const known_step& one : steps) {
      all.push_back(seen_as(one.seen));
      if (one.does.blocked) {
        made.waits = true;
        continue;
      }
      automaton_move move = move_of(here, p, one, number);
      auto same = std::find(moves.begin(), moves.end(), move);
      if (same == moves.end()) same = moves.insert(moves.end(), move), seen_by.emplace_back();
      seen_by[static_cast<std::size_t>(same - moves.begin())].push_back(all.back());
    }
    for (std::size_t i = 0; i < moves.size(); ++i) moves[i].when = guard_for(seen_by[i], all);
    made.moves = std::move(moves);
    add_free_reads(made, p, s);
  }

  template <class Number>
  automaton_move move_of(const local_state& here, int p, const known_step& one, Number&& number) const {
    automaton_move move;
    if (one.does.writes) {
      const value_numbers& values = numbers_[static_cast<std::size_t>(here.variable)];
      move.does = automaton_move::effect::set;
      move.value = values.term(one.does.written, p);
      if (here.op == operation::fetch_add && values.countable()) {
        const long difference = values.number(one.does.written) - values.number(one.seen);
        move.does = difference == 0 ? automaton_move::effect::none : automaton_move::effect::add;
        move.value = {difference, false};
      }
    }
    move.next = number(one.does.next);
    const region then = from_.local(p, one.does.next).where;
    move.enters = here.where != region::critical && then == region::critical;
    move.leaves = here.where == region::critical && then != region::critical;
    return move;
  }

  /// A read of a safe register during a write, and a free choice: any value of the domain, each a step of its own.
  void add_free_reads(automaton_location& made, int p, local_id s) const {
    const local_state& here = from_.local(p, s);
    if (here.op != operation::read || !from_.variable(here.variable).safe()) return;
    const shared_variable& v = from_.variable(here.variable);
    const value_numbers& values = numbers_[static_cast<std::size_t>(here.variable)];
    std::vector<automaton_move> moves;
    for (const code any : v.domain) {
      const auto known =
          std::find_if(steps_[s].begin(), steps_[s].end(), [&](const known_step& one) { return one.seen == any; });
      if (known == steps_[s].end()) return;  // no write was ever going on here
      automaton_move move;
      move.when = {guard::kind::is, {{values.number(v.unstable), false}}};
      move.next = number_of_.at(known->does.next);
      const region then = from_.local(p, known->does.next).where;
      move.enters = here.where != region::critical && then == region::critical;
      move.leaves = here.where == region::critical && then != region::critical;
      move.remark = "reads " + v.text(any);
      moves.push_back(move);
    }
    // What was observed is never "a write is going on" itself, so the others need their guards.
    if (made.moves.size() == 1 && made.moves[0].when.test == guard::kind::always)
      made.moves[0].when = all_of(v, values, p);
    made.moves.insert(made.moves.end(), moves.begin(), moves.end());
  }
  static guard all_of(const shared_variable& v, const value_numbers& values, int p) {
    std::vector<value_term> stable;
    for (code c = 0; c < v.values.size(); ++c)
      if (c != v.unstable) stable.push_back(values.term(c, p));
    std::sort(stable.begin(), stable.end());
    stable.erase(std::unique(stable.begin(), stable.end()), stable.end());
    return {guard::kind::one_of, stable};
  }

  const program& from_;
  translated_program made_;
  std::vector<value_numbers> numbers_;
  std::vector<std::pair<int, int>> translated_;  // of each variable: the translated one and the element
  std::vector<std::vector<known_step>> steps_;
  std::map<local_id, int> number_of_;
  std::map<std::string, int> names_;
};

}  // namespace

translated_program translate(const exploration& e, const std::string& algorithm) {
  return translation(e, algorithm).run();
}

}  // namespace kgate::lab
