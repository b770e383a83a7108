// SPDX-License-Identifier: Apache-2.0
// Completions for bash, zsh and fish, from the table in table.cpp. What follows the options of a command that runs
// another one is completed as if it stood alone.
#include "tools/kgate/spec.hpp"

namespace kgate::tool {

namespace {

/// What the argument of an option is completed with, where that is known: for bash's compgen, zsh's _arguments, and
/// fish's complete.
struct argument_values {
  option_id id;
  const char *bash, *zsh, *fish;
};
constexpr argument_values known_values[] = {
    {option_id::name, "-W \"$(_kgate_names)\"", "_kgate_names", "(__kgate_names)"},
    {option_id::pid, "-W \"$(_kgate_processes)\"", "_kgate_processes", "(__kgate_processes)"},
    {option_id::dir, "-d", "_directories", "(__fish_complete_directories)"},
    {option_id::group, "-g", "_groups", "(__fish_complete_groups)"},
    {option_id::style, "-W \"pipe fifo\"", "(pipe fifo)", "pipe fifo"},
    {option_id::sort, "-W \"slot time user command\"", "(slot time user command)", "slot time user command"},
};

const argument_values* values_of(option_id id) {
  for (const argument_values& one : known_values)
    if (one.id == id) return &one;
  return nullptr;
}

/// Replaces every `what` by `by`.
std::string replaced(std::string text, std::string_view what, std::string_view by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
  return text;
}

/// "a b c", with something before each and between them.
template <class Rows, class Text>
std::string joined(const Rows& rows, const char* between, Text text) {
  std::string out;
  for (const auto& row : rows) {
    const std::string one = text(row);
    if (!one.empty()) out += (out.empty() ? "" : between) + one;
  }
  return out;
}

std::string command_names(const char* between = " ", bool running_only = false) {
  return joined(command_rows(), between, [&](const command_row& row) {
    return running_only && row.takes != operand_rule::command ? "" : std::string(row.name);
  });
}

/// The letters of options that have an argument, or have none.
std::string letters(bool with_argument) {
  return joined(option_rows(), "", [&](const option_row& row) {
    return row.letter != 0 && (row.argument != nullptr) == with_argument ? std::string(1, row.letter) : "";
  });
}

std::string words_with_argument(const char* between) {
  return joined(option_rows(), between, [](const option_row& row) {
    return row.argument != nullptr ? std::string("--") + row.word : std::string();
  });
}

/// What is the same in all shells.
std::string filled(const char* shell_text) {
  std::string out = replaced(shell_text, "@COMMANDS@", command_names());
  out = replaced(out, "@RUNNING@", command_names("|", true));
  out = replaced(out, "@RUNNING_WORDS@", command_names(" ", true));
  out = replaced(out, "@FLAGS@", letters(false));
  out = replaced(out, "@LETTERS@", letters(true));
  return replaced(replaced(out, "@LONG@", words_with_argument("|")), "@LONG_WORDS@", words_with_argument(" "));
}

constexpr const char* bash_text = R"bash(# SPDX-License-Identifier: Apache-2.0
# bash completion for kgate; generated from its option table

# Sets REPLY to the index of the first word behind the options, which may be the current one. Fails if the current word
# is the argument of an option.
_kgate_operand() {
  local i
  for ((i = 2; i < COMP_CWORD; i++)); do
    case ${COMP_WORDS[i]} in
      --) REPLY=$((i + 1)); return 0 ;;
      @LONG@) if [[ ${COMP_WORDS[i+1]} == = ]]; then ((i += 2)); else ((i += 1)); fi ;;
      --*) ;;
      -?*) [[ ${COMP_WORDS[i]} =~ ^-[@FLAGS@]*[@LETTERS@]$ ]] && ((i += 1)) ;;
      *) REPLY=$i; return 0 ;;
    esac
  done
  REPLY=$COMP_CWORD
  ((i == COMP_CWORD))
}
# The directory that was named, as options for kgate itself.
_kgate_directory() {
  local i
  for ((i = 2; i + 1 < COMP_CWORD; i++)); do
    case ${COMP_WORDS[i]} in
      --) return ;;
      -d|--dir) [[ ${COMP_WORDS[i+1]} == = ]] && ((i += 1)); printf '%s\n' --dir "${COMP_WORDS[i+1]}" ;;
    esac
  done
}
_kgate_names() {
  "${COMP_WORDS[0]}" list $(_kgate_directory) 2>/dev/null | tail -n +2 | cut -d' ' -f1
}
_kgate_processes() {
  "${COMP_WORDS[0]}" status $(_kgate_directory) --json 2>/dev/null | grep -o '"pid":[0-9]*' | cut -d: -f2
}
_kgate_command() {
  local offset=_command_offset
  declare -F _comp_command_offset >/dev/null && offset=_comp_command_offset
  if declare -F "$offset" >/dev/null; then
    "$offset" "$1"
  elif ((COMP_CWORD == $1)) && [[ $2 != */* ]]; then
    COMPREPLY=($(compgen -c -- "$2"))
  else
    compopt -o filenames 2>/dev/null
    COMPREPLY=($(compgen -f -- "$2"))
  fi
}
_kgate() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} words= REPLY
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W "@COMMANDS@ help --help --version" -- "$current"))
    return
  fi
  if [[ ${COMP_WORDS[1]} == help ]]; then
    ((COMP_CWORD == 2)) && COMPREPLY=($(compgen -W "@COMMANDS@" -- "$current"))
    return
  fi
  if _kgate_operand; then
    case ${COMP_WORDS[1]} in
      @RUNNING@)
        if ((REPLY < COMP_CWORD)) || [[ $current != -* && $current != = ]] || [[ $previous == -- ]]; then
          _kgate_command "$REPLY" "$current"
          return
        fi ;;
    esac
    [[ $current == -* ]] || ((REPLY == COMP_CWORD)) || return
  else
    # --name=x is three words here: --name, =, x
    [[ $current == = ]] && current=
    [[ $previous == = ]] && previous=${COMP_WORDS[COMP_CWORD-2]}
    [[ $previous == --* ]] || previous=-${previous: -1}
    case $previous in
@VALUES@    esac
    return
  fi
  case ${COMP_WORDS[1]} in
@OPTIONS@  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -F _kgate kgate
)bash";

std::string bash_values(const option_row& row) {
  const argument_values* const known = values_of(row.id);
  if (known == nullptr) return {};
  const std::string letter = row.letter != 0 ? std::string("-") + row.letter + "|" : "";
  return "      " + letter + "--" + row.word + ") COMPREPLY=($(compgen " + known->bash + " -- \"$current\")) ;;\n";
}

std::string completion_bash() {
  const std::string arguments = joined(option_rows(), "", bash_values);
  const std::string options = joined(command_rows(), "", [](const command_row& command) {
    return std::string("    ") + command.name + ") words=\"" +
           joined(command.options, " ", [](const option_use& use) { return std::string("--") + row_of(use.id).word; }) +
           "\" ;;\n";
  });
  return replaced(replaced(filled(bash_text), "@VALUES@", arguments), "@OPTIONS@", options);
}

constexpr const char* zsh_text = R"zsh(#compdef kgate
# SPDX-License-Identifier: Apache-2.0
# generated from kgate's option table
_kgate_directory() {
  local i=${words[(I)(-d|--dir|--dir=*)]}
  (( i > 1 && i < CURRENT )) || return
  if [[ $words[i] == --dir=* ]]; then reply=(--dir ${(Q)words[i]#--dir=}); else reply=(--dir ${(Q)words[i+1]}); fi
}
_kgate_names() {
  local -a names reply
  _kgate_directory
  names=(${(f)"$(_call_program gates kgate list $reply 2>/dev/null | tail -n +2 | cut -d' ' -f1)"})
  compadd -a names
}
_kgate_processes() {
  local -a numbers reply
  _kgate_directory
  numbers=(${(f)"$(_call_program processes kgate status $reply --json 2>/dev/null |
    grep -o '"pid":[0-9]*' | cut -d: -f2)"})
  compadd -a numbers
}
_kgate_command() {
  [[ $words[1] == -- ]] && { shift words; (( CURRENT-- )); }
  _normal
}
_kgate() {
  local -a kgate_commands  # not "commands", which zsh itself needs
  kgate_commands=(
@COMMAND_LINES@  )
  if (( CURRENT == 2 )); then
    _describe command kgate_commands
    return
  fi
  local chosen=$words[2]
  shift words
  (( CURRENT-- ))
  case $chosen in
    help) (( CURRENT == 2 )) && _describe command kgate_commands ;;
@CASES@  esac
}
_kgate "$@"
)zsh";

/// For zsh's _arguments: brackets, colons and quotes mean something there.
std::string zsh_quoted(std::string_view text) {
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

std::string zsh_option(const command_row& command, const option_use& use) {
  const option_row& row = row_of(use.id);
  const bool repeatable = command.names == name_rule::several &&
                          (use.id == option_id::name || use.id == option_id::slots || use.id == option_id::weight);
  const argument_values* const known = values_of(use.id);
  std::string action;
  if (row.argument != nullptr) action = std::string(":") + row.argument + ":" + (known != nullptr ? known->zsh : "");
  const std::string says = "[" + zsh_quoted(help_of(use)) + "]" + action + "'";
  const std::string word = std::string("--") + row.word, letter = std::string("-") + row.letter;
  const std::string both = row.letter != 0 ? letter + " " + word : word;
  const std::string begin = repeatable ? " \\\n        '*" : " \\\n        '(" + both + ")";
  std::string out = begin + word + (row.argument != nullptr ? "=" : "") + says;
  if (row.letter != 0) out += begin + letter + (row.argument != nullptr ? "+" : "") + says;
  return out;
}

std::string completion_zsh() {
  const std::string lines = joined(command_rows(), "", [](const command_row& command) {
    return std::string("    '") + command.name + ":" + zsh_quoted(command.summary) + "'\n";
  });
  const std::string cases = joined(command_rows(), "", [](const command_row& command) {
    std::string out = std::string("    ") + command.name + ")\n      _arguments -s -S";
    for (const option_use& use : command.options) out += zsh_option(command, use);
    if (command.takes == operand_rule::command)
      out += " \\\n        '(-)1:command: _command_names -e' \\\n        '*::argument:_kgate_command'";
    return out + " ;;\n";
  });
  return replaced(replaced(filled(zsh_text), "@COMMAND_LINES@", lines), "@CASES@", cases);
}

constexpr const char* fish_text = R"fish(# SPDX-License-Identifier: Apache-2.0
# fish completion for kgate; generated from its option table

# The index of the first word behind the options. Fails if there is none yet before the current word.
function __kgate_operand
    set -l words (commandline -opc)
    set -l i 3
    while test $i -le (count $words)
        switch $words[$i]
            case --
                echo (math $i + 1)
                return 0
            case @LONG_WORDS@
                set i (math $i + 1)
            case '--*'
            case '-?*'
                string match -qr -- '^-[@FLAGS@]*[@LETTERS@]$' $words[$i]; and set i (math $i + 1)
            case '*'
                echo $i
                return 0
        end
        set i (math $i + 1)
    end
    return 1
end
function __kgate_in
    set -l words (commandline -opc)
    test (count $words) -ge 2; and test "$words[2]" = $argv[1]; and not __kgate_operand >/dev/null
end
# Whether the current word belongs to the command that is run.
function __kgate_runs
    set -l words (commandline -opc)
    test (count $words) -ge 2; and contains -- "$words[2]" @RUNNING_WORDS@; or return 1
    __kgate_operand >/dev/null; or not string match -q -- "-*" (commandline -ct)
end
# What follows the options, completed as a line of its own.
function __kgate_command
    set -l words (commandline -opc)
    set -l first (__kgate_operand); or set first (math (count $words) + 1)
    if test $first -gt (count $words)
        complete -C (commandline -ct)
    else
        complete -C (string join ' ' -- (string escape -- $words[$first..-1]) (commandline -ct))
    end
end
function __kgate_directory
    set -l words (commandline -opc)
    for i in (seq 3 (math (count $words) - 1))
        contains -- $words[$i] -d --dir; and printf '%s\n' --dir $words[(math $i + 1)]
    end
    string replace -f -r -- '^--dir=(.+)' '--dir\n$1' $words | string split '\n'
end
function __kgate_names
    kgate list (__kgate_directory) 2>/dev/null | tail -n +2 | cut -d' ' -f1
end
function __kgate_processes
    kgate status (__kgate_directory) --json 2>/dev/null | string match -ar '(?<="pid":)\d+'
end
complete -c kgate -f
complete -c kgate -n __fish_is_first_arg -a help -d 'tell more about a command'
complete -c kgate -n __fish_is_first_arg -l help -d 'what there is'
complete -c kgate -n __fish_is_first_arg -l version -d 'the version'
complete -c kgate -n '__kgate_in help; and test (count (commandline -opc)) -eq 2' -a '@COMMANDS@'
complete -c kgate -n __kgate_runs -a '(__kgate_command)'
)fish";

std::string fish_quoted(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string completion_fish() {
  std::string out = filled(fish_text);
  for (const command_row& command : command_rows()) {
    out += std::string("complete -c kgate -n __fish_is_first_arg -a ") + command.name + " -d '" +
           fish_quoted(command.summary) + "'\n";
    for (const option_use& use : command.options) {
      const option_row& row = row_of(use.id);
      out += std::string("complete -c kgate -n '__kgate_in ") + command.name + "' -l " + row.word;
      if (row.letter != 0) out += std::string(" -s ") + row.letter;
      if (row.argument != nullptr) out += " -x";
      if (const argument_values* known = values_of(use.id)) out += std::string(" -a '") + known->fish + "'";
      out += " -d '" + fish_quoted(help_of(use)) + "'\n";
    }
  }
  return out;
}

}  // namespace

std::string completion(std::string_view shell) {
  if (shell == "bash") return completion_bash();
  if (shell == "zsh") return completion_zsh();
  if (shell == "fish") return completion_fish();
  return {};
}

}  // namespace kgate::tool
