// SPDX-License-Identifier: Apache-2.0
// The automata as Promela: a proctype for each kind of process, a label for each location, one d_step for each move.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lab/checker/model/walker.hpp"
#include "lab/translation/automata.hpp"

namespace kgate::lab {

namespace {

const char* type_of(const translated_variable& v) {
  if (v.boolean) return "bool";
  if (v.lowest >= 0 && v.highest <= 255) return "byte";
  if (v.lowest >= -32768 && v.highest <= 32767) return "short";
  return "int";
}

std::string value_text(const translated_variable& v, const value_term& value) {
  if (value.own) return "me";
  if (v.boolean) return value.number != 0 ? "true" : "false";
  return std::to_string(value.number);
}

std::string variable_text(const translated_program& p, const automaton_location& at) {
  if (at.variable < 0) return "";
  const translated_variable& v = p.variables[static_cast<std::size_t>(at.variable)];
  if (!v.array) return v.name;
  return at.element == own_element ? v.name + "[me]" : fmt::format("{}[{}]", v.name, at.element);
}

std::string guard_text(const translated_variable& v, const std::string& name, const guard& g) {
  std::vector<std::string> tests;
  switch (g.test) {
    case guard::kind::always:
      return "";
    case guard::kind::is:
      return fmt::format("{} == {}", name, value_text(v, g.values[0]));
    case guard::kind::is_not:
      return fmt::format("{} != {}", name, value_text(v, g.values[0]));
    case guard::kind::range:
      return fmt::format("{1} <= {0} && {0} <= {2}", name, g.values[0].number, g.values[1].number);
    case guard::kind::one_of:
      for (const value_term& one : g.values) tests.push_back(fmt::format("{} == {}", name, value_text(v, one)));
      return fmt::format("({})", fmt::join(tests, " || "));
  }
  return "";
}

std::string move_text(const translated_program& p, const automaton_group& of, const automaton_location& at,
                      const automaton_move& move) {
  static const translated_variable none;
  const translated_variable& v = at.variable < 0 ? none : p.variables[static_cast<std::size_t>(at.variable)];
  const std::string name = variable_text(p, at);
  const std::string when = guard_text(v, name, move.when);
  std::vector<std::string> effects;
  if (move.does == automaton_move::effect::set)
    effects.push_back(fmt::format("{} = {}", name, value_text(v, move.value)));
  if (move.does == automaton_move::effect::add)
    effects.push_back(
        fmt::format("{0} = {0} {1} {2}", name, move.value.number < 0 ? '-' : '+', std::abs(move.value.number)));
  if (move.enters) effects.emplace_back("enter()");
  if (move.leaves) effects.emplace_back("inside--");
  const std::string& next = of.locations[static_cast<std::size_t>(move.next)].name;
  const std::string remark = move.remark.empty() ? "" : fmt::format(" /* {} */", move.remark);
  if (effects.empty()) return fmt::format("  :: {} -> goto {}{}\n", when.empty() ? "true" : when, next, remark);
  return fmt::format("  :: d_step {{ {}{} }} goto {}{}\n", when.empty() ? "" : when + " -> ", fmt::join(effects, "; "),
                     next, remark);
}

std::string group_text(const translated_program& p, const automaton_group& of) {
  const int count = of.last - of.first + 1;
  const std::string who = count == p.N ? "process" : fmt::format("process_{}", of.first);
  std::string text =
      fmt::format("\n/* {} */\nactive [{}] proctype {}() {{\n",
                  count == 1 ? fmt::format("p{}", of.first) : fmt::format("p{} to p{}", of.first, of.last), count, who);
  for (const automaton_location& at : of.locations) {
    if (at.done) {
      text += fmt::format("{}: /* all passages made */\n  false;\n", at.name);
      continue;
    }
    const std::string variable =
        at.variable < 0 ? "" : " " + p.variables[static_cast<std::size_t>(at.variable)].paper_name;
    text += fmt::format("{}: /* {}: {}{}; {} */\n  if\n", at.name, at.label, to_string(at.op), variable,
                        to_string(at.where));
    for (const automaton_move& move : at.moves) text += move_text(p, of, at, move);
    const bool any = std::any_of(at.moves.begin(), at.moves.end(),
                                 [](const automaton_move& m) { return m.when.test == guard::kind::always; });
    if (at.moves.empty())
      text += "  :: false -> skip /* nothing that was observed here lets it go on */\n";
    else if (!at.waits && !any)
      text += "  :: else -> assert(false) /* was never observed here */\n";
    text += "  fi;\n";
  }
  return text + "}\n";
}

std::string variables_text(const translated_program& p) {
  std::string text;
  for (const translated_variable& v : p.variables) {
    const std::string initial = v.boolean ? (v.initial != 0 ? "true" : "false") : std::to_string(v.initial);
    text += fmt::format("{} {}{} = {}; /* {}", type_of(v), v.name, v.array ? "[N]" : "", initial, v.paper_name);
    if (v.processes) text += fmt::format(": a process, {} for nobody", p.N);
    for (std::size_t i = 0; i < v.texts.size(); ++i)
      text += fmt::format("{} {}: {}", i == 0 ? ";" : ",", i, v.texts[i]);
    if (v.unstable >= 0) text += fmt::format("; {}: a write is going on, or any value may be read", v.unstable);
    text += " */\n";
  }
  return text;
}

}  // namespace

std::string promela_text(const translated_program& p) {
  std::string text = fmt::format(
      "/* {}, N = {}, k = {}, {}: the automata of its processes, written by kgate-lab export.\n"
      " * By {}.\n"
      " *\n"
      " * A label is a local state: at_4 stands before the paper's statement 4, at_4_2 is another state before it. One "
      "option\n"
      " * is one access. `inside` follows from the locations. Spin stores {} states and counts {} transitions, one\n"
      " * more than kgate-lab check, for the initial state:\n"
      " *   spin -a FILE && gcc -O2 -DSAFETY -DNOREDUCE -o pan pan.c && ./pan -m1000000\n"
      " */\n"
      "#define N {}\n#define K {}\n#define me _pid\n\n",
      p.algorithm, p.N, p.k,
      p.passages == 0 ? "passages without limit" : fmt::format("passages of each: {}", p.passages), p.made_by, p.states,
      p.transitions + 1, p.N, p.k);
  text += variables_text(p);
  text += "byte inside;\n\ninline enter() {\n  inside++;\n  assert(inside <= K) /* k-exclusion */\n}\n";
  for (const automaton_group& one : p.groups) text += group_text(p, one);
  return text;
}

}  // namespace kgate::lab
