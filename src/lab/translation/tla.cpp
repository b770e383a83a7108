// SPDX-License-Identifier: Apache-2.0
// The automata as a TLA+ module: an action for each location.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lab/checker/model/walker.hpp"
#include "lab/translation/automata.hpp"

namespace kgate::lab {

namespace {

std::string value_text(const translated_variable& v, const value_term& value) {
  if (value.own) return "me";
  if (v.boolean) return value.number != 0 ? "TRUE" : "FALSE";
  return std::to_string(value.number);
}

std::string variable_text(const translated_variable& v, const automaton_location& at) {
  if (!v.array) return v.name;
  return at.element == own_element ? v.name + "[me]" : fmt::format("{}[{}]", v.name, at.element);
}

std::string guard_text(const translated_variable& v, const std::string& name, const guard& g) {
  std::vector<std::string> values;
  switch (g.test) {
    case guard::kind::always:
      return "";
    case guard::kind::is:
      return fmt::format("{} = {}", name, value_text(v, g.values[0]));
    case guard::kind::is_not:
      return fmt::format("{} # {}", name, value_text(v, g.values[0]));
    case guard::kind::range:
      return fmt::format("{} \\in {}..{}", name, g.values[0].number, g.values[1].number);
    case guard::kind::one_of:
      for (const value_term& one : g.values) values.push_back(value_text(v, one));
      return fmt::format("{} \\in {{{}}}", name, fmt::join(values, ", "));
  }
  return "";
}

std::string group_suffix(const translated_program& p, const automaton_group& of) {
  return p.groups.size() == 1 ? "" : fmt::format("_p{}", of.first);
}

/// The conjuncts of one move.
std::vector<std::string> move_lines(const translated_program& p, const automaton_group& of,
                                    const automaton_location& at, const automaton_move& move) {
  std::vector<std::string> lines;
  int written = -1;
  if (at.variable >= 0) {
    const translated_variable& v = p.variables[static_cast<std::size_t>(at.variable)];
    const std::string name = variable_text(v, at);
    if (const std::string when = guard_text(v, name, move.when); !when.empty()) lines.push_back(when);
    if (move.does != automaton_move::effect::none) {
      written = at.variable;
      const std::string value =
          move.does == automaton_move::effect::set
              ? value_text(v, move.value)
              : fmt::format("{} {} {}", name, move.value.number < 0 ? '-' : '+', std::abs(move.value.number));
      lines.push_back(v.array ? fmt::format("{0}' = [{0} EXCEPT !{1} = {2}]", v.name, name.substr(v.name.size()), value)
                              : fmt::format("{}' = {}", v.name, value));
    }
  }
  lines.push_back(
      fmt::format("pc' = [pc EXCEPT ![me] = \"{}\"]", of.locations[static_cast<std::size_t>(move.next)].name));
  std::vector<std::string> same;
  for (std::size_t v = 0; v < p.variables.size(); ++v)
    if (static_cast<int>(v) != written) same.push_back(p.variables[v].name);
  if (!same.empty()) lines.push_back(fmt::format("UNCHANGED <<{}>>", fmt::join(same, ", ")));
  if (!move.remark.empty()) lines.back() += fmt::format(" \\* {}", move.remark);
  return lines;
}

std::string action_text(const translated_program& p, const automaton_group& of, const automaton_location& at) {
  const std::string variable =
      at.variable < 0 ? "" : " " + p.variables[static_cast<std::size_t>(at.variable)].paper_name;
  std::string text = fmt::format("\\* {}: {}{}; {}\n{}{}(me) ==\n  /\\ pc[me] = \"{}\"\n", at.label, to_string(at.op),
                                 variable, to_string(at.where), at.name, group_suffix(p, of), at.name);
  if (at.moves.empty()) return text + "  /\\ FALSE\n\n";
  for (std::size_t i = 0; i < at.moves.size(); ++i) {
    const auto lines = move_lines(p, of, at, at.moves[i]);
    for (std::size_t j = 0; j < lines.size(); ++j)
      text += fmt::format("  {} {} /\\ {}\n", i == 0 && j == 0 ? "/\\" : "  ", j == 0 ? "\\/" : "  ", lines[j]);
  }
  return text + "\n";
}

std::string step_text(const translated_program& p, const automaton_group& of) {
  std::string text = fmt::format("Step{}(me) ==\n", group_suffix(p, of));
  for (const automaton_location& at : of.locations)
    if (!at.done) text += fmt::format("  \\/ {}{}(me)\n", at.name, group_suffix(p, of));
  return text + "\n";
}

/// p \in first..last /\ pc[p] \in {"L7", ...}, for the locations in a region.
std::string region_text(const translated_program& p, region where, const char* name) {
  std::string text = fmt::format("{}(p) ==\n", name);
  for (const automaton_group& of : p.groups) {
    std::vector<std::string> names;
    for (const automaton_location& at : of.locations)
      if (at.where == where) names.push_back(fmt::format("\"{}\"", at.name));
    text +=
        fmt::format("  \\/ /\\ p \\in {}..{}\n     /\\ pc[p] \\in {{{}}}\n", of.first, of.last, fmt::join(names, ", "));
  }
  return text + "\n";
}

std::string init_text(const translated_program& p) {
  std::string text = "Init ==\n";
  for (const translated_variable& v : p.variables) {
    const std::string value = value_text(v, {v.initial, false});
    text += v.array ? fmt::format("  /\\ {} = [p \\in Processes |-> {}]\n", v.name, value)
                    : fmt::format("  /\\ {} = {}\n", v.name, value);
  }
  // Every automaton begins at its first location, whose name is made of the first label of the text.
  text += "  /\\ pc = [p \\in Processes |-> ";
  const std::string& name = p.groups[0].locations[0].name;
  bool alike = true;
  for (const automaton_group& of : p.groups) alike = alike && of.locations[0].name == name;
  if (alike) return text + fmt::format("\"{}\"]\n\n", name);
  text += "CASE ";
  for (const automaton_group& of : p.groups)
    text += fmt::format("{}p \\in {}..{} -> \"{}\"", &of == p.groups.data() ? "" : " [] ", of.first, of.last,
                        of.locations[0].name);
  return text + "]\n\n";
}

std::string module_name(std::string id) {
  for (char& c : id)
    if (c == '-' || c == '+' || c == '.' || c == '/' || c == ':') c = '_';
  return id;
}

}  // namespace

std::string tla_text(const translated_program& p) {
  std::vector<std::string> names;
  for (const translated_variable& v : p.variables) names.push_back(v.name);
  std::string text = fmt::format("---- MODULE {} ----\n", module_name(p.algorithm));
  text += fmt::format(
      "\\* {}, N = {}, k = {}, {}: the automata of its processes, written by kgate-lab export.\n"
      "\\* By {}.\n"
      "\\* An action is a local state: at_4 stands before the paper's statement 4, at_4_2 is another state before it.\n"
      "\\* {} distinct states, {} steps between them, as kgate-lab check counts them.\n"
      "\\* For TLC: SPECIFICATION Spec, INVARIANT Exclusion, CHECK_DEADLOCK FALSE.\n"
      "EXTENDS Integers, FiniteSets\n\nN == {}\nK == {}\nProcesses == 0..(N - 1)\n\n",
      p.algorithm, p.N, p.k,
      p.passages == 0 ? "passages without limit" : fmt::format("passages of each: {}", p.passages), p.made_by, p.states,
      p.transitions, p.N, p.k);
  for (const translated_variable& v : p.variables) {
    text += fmt::format("\\* {}: {}", v.name, v.paper_name);
    if (v.processes) text += fmt::format(", a process, {} for nobody", p.N);
    for (std::size_t i = 0; i < v.texts.size(); ++i)
      text += fmt::format("{} {}: {}", i == 0 ? ";" : ",", i, v.texts[i]);
    if (v.unstable >= 0) text += fmt::format("; {}: a write is going on, or any value may be read", v.unstable);
    text += "\n";
  }
  text += fmt::format("VARIABLES {}, pc\nvars == <<{}, pc>>\n\n", fmt::join(names, ", "), fmt::join(names, ", "));
  text += init_text(p);
  std::string next = "Next ==\n", fair = "Fair ==\n";
  for (const automaton_group& of : p.groups) {
    for (const automaton_location& at : of.locations)
      if (!at.done) text += action_text(p, of, at);
    text += step_text(p, of);
    next += fmt::format("  \\/ \\E p \\in {}..{} : Step{}(p)\n", of.first, of.last, group_suffix(p, of));
    fair += fmt::format("  /\\ \\A p \\in {}..{} : WF_vars(~Remainder(p) /\\ Step{}(p))\n", of.first, of.last,
                        group_suffix(p, of));
  }
  text += next + "\n" + region_text(p, region::critical, "Inside") + region_text(p, region::remainder, "Remainder");
  text += "\\* Whoever is outside its remainder and can go on goes on.\n" + fair + "\n";
  text += "Spec == Init /\\ [][Next]_vars /\\ Fair\n\n";
  text += "\\* k-exclusion\nExclusion == Cardinality({p \\in Processes : Inside(p)}) <= K\n";
  return text + "====\n";
}

}  // namespace kgate::lab
