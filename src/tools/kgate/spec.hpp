// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What the command line may be: one table, from which it is parsed and from which help, man pages and completions are
/// made.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kgate::tool {

enum class option_id : unsigned char {
  name,
  slots,
  weight,
  timeout,
  try_once,
  timeout_code,
  time_limit,
  grace,
  exec,
  existing,
  show_arguments,
  style,
  fd,
  path,
  pid,
  all,
  dir,
  mode,
  group,
  overtake,
  quiet,
  json,
  prometheus,
  force,
  once,
  sort,
  on,
  on_loss,
  lease,
  help
};

struct option_row {
  option_id id;
  char letter;  ///< 0: none
  const char* word;
  const char* argument;  ///< nullptr: none
  const char* help;
};

/// An option of one command; what it says there, if that differs.
struct option_use {
  constexpr option_use(option_id which, const char* says = nullptr) : id(which), help(says) {}
  option_id id;
  const char* help;
};

struct example_row {
  const char* line;
  const char* says;
};

enum class operand_rule : unsigned char { none, command };
/// How many gates a command may name.
enum class name_rule : unsigned char { none, optional, required, several };

struct command_row {
  const char* name;
  const char* operands;  ///< after the options, for the synopsis
  const char* summary;   ///< one line
  const char* text;      ///< paragraphs, separated by an empty line
  operand_rule takes;
  name_rule names;
  std::span<const option_use> options;
  std::span<const example_row> examples;
};

struct exit_row {
  int code;
  const char* says;
};

std::span<const option_row> option_rows();
std::span<const command_row> command_rows();
std::span<const exit_row> exit_rows();
const option_row& row_of(option_id id);
/// What an option says in the help of a command.
const char* help_of(const option_use& use);

/// The variable in which a command finds its slots of one of several gates: KGATE_SLOT_NAME, with letters and digits of
/// the name in capitals, and _ for the rest.
std::string slot_variable(std::string_view gate);

/// A gate as it was named on the command line.
struct gate_request {
  std::string name;
  int slots = 0;   ///< 0: as it is, or 1 if it is created
  int weight = 0;  ///< 0: none given
  /// Not empty: it is the local gate of the lease of that gate between machines, and messages speak of this.
  std::string lease_of{};
  int permits() const { return weight == 0 ? 1 : weight; }
};

/// A command line that was understood.
struct request {
  std::span<char* const> line;  ///< all of it, with the name of the program
  const command_row* command = nullptr;
  bool help = false;
  bool help_long = false;
  bool version = false;
  bool named = false;               ///< whether a gate was named; else gates holds the one of the name "default"
  std::vector<gate_request> gates;  ///< in the order in which they were named
  double timeout_s = -1;
  bool try_once = false;
  int timeout_code = -1;
  double time_limit_s = -1;
  double grace_s = 10;
  bool exec = false;
  bool existing = false;
  bool show_arguments = false;
  std::string style = "pipe";
  int fd = -1;
  bool path = false;
  int pid = 0;
  bool all = false;
  std::string dir;
  int mode = -1;
  std::string group;
  int overtake = -1;
  bool quiet = false;
  bool json = false;
  bool prometheus = false;
  bool force = false;
  bool once = false;
  std::string sort;
  std::string on;                ///< the ensemble of gates between machines; empty: gates of this machine
  std::string on_loss = "term";  ///< what is done to a command whose slot is lost
  bool lease = false;            ///< take the slot from the lease of this host
  std::vector<char*> words;      ///< what follows the options

  const std::string& name() const { return gates.front().name; }
  int slots() const { return gates.front().slots; }
};

/// Fills in `out`, or says what is wrong.
bool parse(int argc, char** argv, request& out, std::string& problem);

/// "; did you mean 'status'?", or nothing if none of the words is near. `before` stands before the word.
std::string suggestion(std::string_view given, const std::vector<std::string_view>& words, const char* before);

std::string help_text(const command_row* command, bool in_full);
std::string manual_page(const command_row& command);
std::string manual_overview();
/// For "bash", "zsh" or "fish".
std::string completion(std::string_view shell);

}  // namespace kgate::tool
