// SPDX-License-Identifier: Apache-2.0
// Completions for bash, zsh and fish, from the table in table.cpp.
#include "tools/kgate/spec.hpp"

namespace kgate::tool {

namespace {

std::string completion_bash() {
  std::string cases;
  std::string names;
  for (const command_row& command : command_rows()) {
    names += std::string(names.empty() ? "" : " ") + command.name;
    std::string words;
    for (const option_use& use : command.options)
      words += std::string(words.empty() ? "--" : " --") + row_of(use.id).word;
    cases += std::string("    ") + command.name + ") words=\"" + words + "\" ;;\n";
  }
  return "# SPDX-License-Identifier: Apache-2.0\n# bash completion for kgate; generated from its option table\n"
         "_kgate() {\n"
         "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} words= i\n"
         "  COMPREPLY=()\n"
         "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
         "    COMPREPLY=($(compgen -W \"" +
         names +
         " help --help --version\" -- \"$current\"))\n"
         "    return\n"
         "  fi\n"
         "  if [ \"${COMP_WORDS[1]}\" = run ] || [ \"${COMP_WORDS[1]}\" = jobserver ]; then\n"
         "    for ((i = 2; i < COMP_CWORD; i++)); do\n"
         "      if [ \"${COMP_WORDS[i]}\" = -- ]; then\n"
         "        COMPREPLY=($(compgen -c -f -- \"$current\"))\n"
         "        return\n"
         "      fi\n"
         "    done\n"
         "  fi\n"
         "  case $previous in\n"
         "    -n|--name) COMPREPLY=($(compgen -W \"$(\"${COMP_WORDS[0]}\" list 2>/dev/null | tail -n +2 | cut -d' ' "
         "-f1)\" -- \"$current\")); return ;;\n"
         "    -d|--dir) COMPREPLY=($(compgen -d -- \"$current\")); return ;;\n"
         "    --group) COMPREPLY=($(compgen -g -- \"$current\")); return ;;\n"
         "    --style) COMPREPLY=($(compgen -W \"pipe fifo\" -- \"$current\")); return ;;\n"
         "    --sort) COMPREPLY=($(compgen -W \"slot time user command\" -- \"$current\")); return ;;\n"
         "  esac\n"
         "  case ${COMP_WORDS[1]} in\n" +
         cases +
         "  esac\n"
         "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
         "}\n"
         "complete -o default -F _kgate kgate\n";
}

/// For zsh's _arguments: brackets, colons and quotes mean something there.
std::string zsh_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':') out += '\\';
    if (c == '\'')
      out += "'\\''";
    else
      out += c;
  }
  return out;
}

std::string completion_zsh() {
  std::string commands, cases;
  for (const command_row& command : command_rows()) {
    commands += std::string("    '") + command.name + ":" + zsh_text(command.summary) + "'\n";
    cases += std::string("    ") + command.name + ")\n      _arguments";
    for (const option_use& use : command.options) {
      const option_id id = use.id;
      const option_row& row = row_of(id);
      std::string action;
      if (row.argument != nullptr) {
        action = std::string(":") + row.argument + ":";
        if (id == option_id::name) action += "_kgate_names";
        if (id == option_id::dir) action += "_directories";
        if (id == option_id::group) action += "_groups";
        if (id == option_id::sort) action += "(slot time user command)";
        if (id == option_id::style) action += "(pipe fifo)";
      }
      const std::string says = "[" + zsh_text(help_of(use)) + "]" + action;
      cases += std::string(" \\\n        '--") + row.word + (row.argument != nullptr ? "=" : "") + says + "'";
      if (row.letter != 0) cases += std::string(" \\\n        '-") + row.letter + says + "'";
    }
    if (command.takes == operand_rule::command) cases += " \\\n        '*::command:_normal'";
    cases += " ;;\n";
  }
  return "#compdef kgate\n# SPDX-License-Identifier: Apache-2.0\n# generated from kgate's option table\n"
         "_kgate_names() {\n  local -a names\n  names=(${(f)\"$(kgate list 2>/dev/null | tail -n +2 | cut -d' ' "
         "-f1)\"})\n  compadd -a names\n}\n"
         "_kgate() {\n  local -a commands\n  commands=(\n" +
         commands +
         "  )\n"
         "  if (( CURRENT == 2 )); then\n    _describe command commands\n    return\n  fi\n"
         "  local chosen=$words[2]\n  shift words\n  (( CURRENT-- ))\n"
         "  case $chosen in\n" +
         cases + "  esac\n}\n_kgate \"$@\"\n";
}

std::string fish_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string completion_fish() {
  std::string out =
      "# SPDX-License-Identifier: Apache-2.0\n# fish completion for kgate; generated from its option table\ncomplete "
      "-c kgate -f\n";
  for (const command_row& command : command_rows()) {
    out += std::string("complete -c kgate -n __fish_use_subcommand -a ") + command.name + " -d '" +
           fish_text(command.summary) + "'\n";
    for (const option_use& use : command.options) {
      const option_id id = use.id;
      const option_row& row = row_of(id);
      out += std::string("complete -c kgate -n '__fish_seen_subcommand_from ") + command.name + "' -l " + row.word;
      if (row.letter != 0) out += std::string(" -s ") + row.letter;
      if (row.argument != nullptr) out += " -x";
      if (id == option_id::name) out += " -a '(kgate list 2>/dev/null | tail -n +2 | cut -d\" \" -f1)'";
      if (id == option_id::dir) out += " -a '(__fish_complete_directories)'";
      if (id == option_id::group) out += " -a '(__fish_complete_groups)'";
      if (id == option_id::sort) out += " -a 'slot time user command'";
      if (id == option_id::style) out += " -a 'pipe fifo'";
      out += std::string(" -d '") + fish_text(help_of(use)) + "'\n";
    }
  }
  return out + "complete -c kgate -n '__fish_seen_subcommand_from run jobserver' -a '(__fish_complete_subcommand)'\n";
}

}  // namespace

std::string completion(std::string_view shell) {
  if (shell == "bash") return completion_bash();
  if (shell == "zsh") return completion_zsh();
  if (shell == "fish") return completion_fish();
  return {};
}

}  // namespace kgate::tool
