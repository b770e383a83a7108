// SPDX-License-Identifier: Apache-2.0
// Help and man pages, all from the table in table.cpp.
#include <cstdio>

#include "tools/kgate/exit_codes.hpp"
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

/// An option and what it says, in two columns.
std::string option_lines(const option_use& use) {
  constexpr std::size_t column = 28;
  constexpr std::size_t width = 96;
  std::string line = "  " + option_words(row_of(use.id));
  std::string out;
  if (line.size() + 2 > column) {
    out += line + "\n";
    line.clear();
  }
  line.resize(column, ' ');
  bool empty = true;
  for (std::string_view text = help_of(use); !text.empty();) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(word.size() + (word.size() < text.size() ? 1 : 0));
    if (!empty && line.size() + 1 + word.size() > width) {
      out += line + "\n";
      line.assign(column, ' ');
      empty = true;
    }
    line += (empty ? "" : " ") + std::string(word);
    empty = false;
  }
  return out + line + "\n";
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

/// Whether it runs a command or comes by a slot: the others have few exit codes.
bool has_codes_of_its_own(const command_row& command) {
  const std::string_view name = command.name;
  return command.takes == operand_rule::command || name == "hold";
}

/// Which of the codes a command that runs nothing can end with.
bool is_code_of(const command_row& command, int code) {
  const std::string_view name = command.name;
  return code <= 2 || code == exit_usage ||
         ((code == exit_lost || code == exit_timed_out) && (name == "wait" || name == "drain"));
}

/// All codes, or those of one command.
std::string exit_section(const command_row* command) {
  std::string out = ".SH EXIT STATUS\n";
  for (const exit_row& row : exit_rows()) {
    if (command != nullptr && !has_codes_of_its_own(*command) && !is_code_of(*command, row.code)) continue;
    out += ".TP\n.B " + std::to_string(row.code) + "\n" + roff(row.says) + "\n";
  }
  return out;
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
      line.resize(20, ' ');
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
    return out + "\n`kgate help COMMAND` tells more about each command, `kgate --version` the version.\n";
  }
  out = std::string("kgate ") + command->name + ": " + command->summary + "\n\nUsage: " + synopsis(*command) + "\n";
  if (in_full) out += "\n" + wrapped(command->text);
  out += "\nOptions:\n";
  for (const option_use& use : command->options) out += option_lines(use);
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
  for (const option_use& use : command.options) {
    const option_row& row = row_of(use.id);
    out += ".TP\n";
    std::string words;
    if (row.letter != 0) words = std::string("\\fB\\-") + row.letter + "\\fR, ";
    words += "\\fB\\-\\-" + roff(row.word) + "\\fR";
    if (row.argument != nullptr) words += std::string(" \\fI") + row.argument + "\\fR";
    out += words + "\n" + roff(help_of(use)) + "\n";
  }
  out += exit_section(&command) + ".SH EXAMPLES\n";
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
      "own. Anybody may be killed at any moment: no slot and no position in the queue is lost. There is no "
      "daemon.\n.SH "
      "COMMANDS\n";
  for (const command_row& row : command_rows())
    out += std::string(".TP\n.BR kgate\\-") + row.name + " (1)\n" + roff(row.summary) + "\n";
  out += exit_section(nullptr);
  out +=
      ".SH ENVIRONMENT\n.TP\n.B KGATE_DIR\nthe directory of gates; must not be empty\n.TP\n.B KGATE_ON\nthe ensemble "
      "of gates between "
      "machines, if neither \\-\\-on nor \\-\\-dir is given; must not be empty\n.TP\n.B KGATE_CONNECT_TIMEOUT\nhow "
      "long the first "
      "connection to it may take (default: 10s)\n.TP\n.BR KGATE_ZK_AUTH \", \" KGATE_ZK_AUTH_FILE\nuser:password for "
      "digest authentication there, or a file whose first line it is and that nobody else may be able to read; must "
      "not be "
      "empty\n.TP\n.B NO_COLOR\nif set and not empty, no colour\n";
  return out + see_also("");
}

}  // namespace kgate::tool
