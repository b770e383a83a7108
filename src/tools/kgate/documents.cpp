// SPDX-License-Identifier: Apache-2.0
// Help, man pages and completions, all from the table in spec.cpp.
#include <cstdio>

#include "tools/kgate/spec.hpp"

namespace kgate::tool {

namespace {

constexpr const char* licence = ".\\\" SPDX-License-Identifier: Apache-2.0\n";

std::string option_words(const option_row& row) {
  std::string text = row.letter != 0 ? std::string("-") + row.letter + ", " : std::string("    ");
  text += std::string("--") + row.word;
  if (row.argument != nullptr) text += std::string(" ") + row.argument;
  return text;
}

std::string synopsis(const command_row& command) {
  return std::string("kgate ") + command.name + " [OPTION]..." +
         (*command.operands != '\0' ? std::string(" ") + command.operands : "");
}

/// Text at `width`, indented by two.
std::string wrapped(std::string_view text, std::size_t width = 96) {
  std::string out, line = " ";
  const auto flush = [&] {
    if (line.size() > 1) out += line + "\n";
    line = " ";
  };
  std::size_t at = 0;
  while (at < text.size()) {
    if (text[at] == '\n') {
      flush();
      if (out.empty() || out.back() != '\n' || text.substr(at, 2) == "\n\n") out += "\n";
      while (at < text.size() && text[at] == '\n') ++at;
      continue;
    }
    std::size_t end = text.find_first_of(" \n", at);
    if (end == std::string_view::npos) end = text.size();
    if (line.size() + 1 + (end - at) > width) flush();
    line += " " + std::string(text.substr(at, end - at));
    at = end < text.size() && text[end] == ' ' ? end + 1 : end;
  }
  flush();
  return out;
}

/// Text as roff wants it.
std::string roff(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n'))
      out += std::string("\\&") + c;
    else if (c == '\n' && i + 1 < text.size() && text[i + 1] == '\n') {
      out += "\n.PP\n";
      ++i;
    } else
      out += c;
  }
  return out;
}

std::string see_also(std::string_view except) {
  std::string out = ".SH SEE ALSO\n";
  if (!except.empty()) out += ".BR kgate (1),\n";
  for (const command_row& other : command_rows())
    if (other.name != except) out += std::string(".BR kgate\\-") + other.name + " (1),\n";
  return out + ".BR kgate (7),\n.BR flock (1)\n";
}

std::string exit_section(bool all) {
  std::string out = ".SH EXIT STATUS\n";
  for (const exit_row& row : exit_rows()) {
    if (!all && row.code > 2 && row.code != 120) continue;
    out += ".TP\n.B " + std::to_string(row.code) + "\n" + roff(row.says) + "\n";
  }
  return out;
}

std::string completion_bash() {
  std::string cases;
  std::string names;
  for (const command_row& command : command_rows()) {
    names += std::string(names.empty() ? "" : " ") + command.name;
    std::string words;
    for (const option_id id : command.options) words += std::string(words.empty() ? "--" : " --") + row_of(id).word;
    cases += std::string("    ") + command.name + ") words=\"" + words + "\" ;;\n";
  }
  return "# SPDX-License-Identifier: Apache-2.0\n# bash completion for kgate; generated from its option table\n"
         "_kgate() {\n"
         "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} words= i\n"
         "  COMPREPLY=()\n"
         "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
         "    COMPREPLY=($(compgen -W \"" +
         names +
         " --help\" -- \"$current\"))\n"
         "    return\n"
         "  fi\n"
         "  if [ \"${COMP_WORDS[1]}\" = run ]; then\n"
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
    for (const option_id id : command.options) {
      const option_row& row = row_of(id);
      std::string action;
      if (row.argument != nullptr) {
        action = std::string(":") + row.argument + ":";
        if (id == option_id::name) action += "_kgate_names";
        if (id == option_id::dir) action += "_directories";
        if (id == option_id::group) action += "_groups";
        if (id == option_id::sort) action += "(slot time user command)";
      }
      const std::string says = "[" + zsh_text(row.help) + "]" + action;
      cases += std::string(" \\\n        '--") + row.word + (row.argument != nullptr ? "=" : "") + says + "'";
      if (row.letter != 0) cases += std::string(" \\\n        '-") + row.letter + says + "'";
    }
    if (std::string_view(command.name) == "run") cases += " \\\n        '*::command:_normal'";
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
    for (const option_id id : command.options) {
      const option_row& row = row_of(id);
      out += std::string("complete -c kgate -n '__fish_seen_subcommand_from ") + command.name + "' -l " + row.word;
      if (row.letter != 0) out += std::string(" -s ") + row.letter;
      if (row.argument != nullptr) out += " -x";
      if (id == option_id::name) out += " -a '(kgate list 2>/dev/null | tail -n +2 | cut -d\" \" -f1)'";
      if (id == option_id::dir) out += " -a '(__fish_complete_directories)'";
      if (id == option_id::group) out += " -a '(__fish_complete_groups)'";
      if (id == option_id::sort) out += " -a 'slot time user command'";
      out += std::string(" -d '") + fish_text(row.help) + "'\n";
    }
  }
  return out + "complete -c kgate -n '__fish_seen_subcommand_from run' -a '(__fish_complete_subcommand)'\n";
}

}  // namespace

std::string help_text(const command_row* command, bool in_full) {
  std::string out;
  if (command == nullptr) {
    out =
        "kgate: at most k at a time, in order, each with its own slot; nothing is lost when anybody is "
        "killed.\n\nUsage:\n";
    for (const command_row& row : command_rows()) {
      std::string line = std::string("  kgate ") + row.name;
      line.resize(18, ' ');
      out += line + row.summary + "\n";
    }
    out += "\nTry first:\n  kgate run -n demo -k 2 -- sh -c 'echo slot $KGATE_SLOT'\n";
    if (in_full) {
      out += "\nExit codes:\n";
      for (const exit_row& row : exit_rows()) {
        std::string line = "  " + std::to_string(row.code);
        line.resize(8, ' ');
        out += line + row.says + "\n";
      }
    }
    return out + "\n`kgate COMMAND --help` tells more about each command.\n";
  }
  out = std::string("kgate ") + command->name + ": " + command->summary + "\n\nUsage: " + synopsis(*command) + "\n";
  if (in_full) out += "\n" + wrapped(command->text);
  out += "\nOptions:\n";
  for (const option_id id : command->options) {
    std::string line = "  " + option_words(row_of(id));
    line.resize(line.size() < 24 ? 24 : line.size() + 2, ' ');
    out += line + row_of(id).help + "\n";
  }
  if (in_full) {
    out += "\nExamples:\n";
    for (const example_row& row : command->examples) out += std::string("  ") + row.line + "\n      " + row.says + "\n";
  }
  return out;
}

std::string manual_page(const command_row& command) {
  std::string upper = std::string("KGATE\\-") + command.name;
  for (char& c : upper)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  std::string out = std::string(licence) + ".TH " + upper + " 1 \"\" \"kgate\" \"User Commands\"\n.SH NAME\nkgate\\-" +
                    command.name + " \\- " + roff(command.summary) + "\n.SH SYNOPSIS\n.B kgate " + command.name +
                    "\n[\\fIOPTION\\fR]..." +
                    (*command.operands != '\0' ? " " + roff(command.operands) : std::string()) + "\n.SH DESCRIPTION\n" +
                    roff(command.text) + "\n.SH OPTIONS\n";
  for (const option_id id : command.options) {
    const option_row& row = row_of(id);
    out += ".TP\n";
    std::string words;
    if (row.letter != 0) words = std::string("\\fB\\-") + row.letter + "\\fR, ";
    words += "\\fB\\-\\-" + roff(row.word) + "\\fR";
    if (row.argument != nullptr) words += std::string(" \\fI") + row.argument + "\\fR";
    out += words + "\n" + roff(row.help) + "\n";
  }
  out += exit_section(std::string_view(command.name) == "run") + ".SH EXAMPLES\n";
  for (const example_row& row : command.examples) out += ".TP\n.B " + roff(row.line) + "\n" + roff(row.says) + "\n";
  return out + see_also(command.name);
}

std::string manual_overview() {
  std::string out =
      std::string(licence) +
      ".TH KGATE 1 \"\" \"kgate\" \"User Commands\"\n.SH NAME\nkgate \\- at most k at a time, in order, each with its "
      "own slot\n"
      ".SH SYNOPSIS\n.B kgate\n\\fICOMMAND\\fR [\\fIOPTION\\fR]...\n.SH DESCRIPTION\n"
      "A gate lets at most k commands or processes of this host in at a time, first come first served, each with a "
      "slot number of its "
      "own. Anybody may be killed at any moment: no slot and no place in the queue is lost. There is no daemon.\n.SH "
      "COMMANDS\n";
  for (const command_row& row : command_rows())
    out += std::string(".TP\n.BR kgate\\-") + row.name + " (1)\n" + roff(row.summary) + "\n";
  out += exit_section(true);
  out +=
      ".SH ENVIRONMENT\n.TP\n.B KGATE_DIR\nthe directory of gates\n.TP\n.B NO_COLOR\nif set and not empty, no colour\n";
  return out + see_also("");
}

std::string completion(std::string_view shell) {
  if (shell == "bash") return completion_bash();
  if (shell == "zsh") return completion_zsh();
  if (shell == "fish") return completion_fish();
  return {};
}

}  // namespace kgate::tool
